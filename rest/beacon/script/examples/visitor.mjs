// Sets the visitor cookie. Call it after every login, before the head of the answer is sent.
// If it fails, log the error and complete the login without the cookie.
export async function setVisitor(response, email, externalId) {
  const answer = await fetch("https://api.example.com/v1/contacts/identify", {
    method: "POST",
    headers: {
      Authorization: `Bearer ${process.env.MAILHELM_API_KEY}`,
      "Content-Type": "application/json",
    },
    body: JSON.stringify({ email, external_id: externalId }),
    signal: AbortSignal.timeout(5000),
  });
  if (!answer.ok) throw new Error(`contacts/identify: ${answer.status}`);
  const { visitor_id } = await answer.json();
  response.appendHeader("Set-Cookie", cookie(visitor_id, 34560000));
}

// Removes the visitor cookie. Call it at logout.
export function clearVisitor(response) {
  response.appendHeader("Set-Cookie", cookie("", 0));
}

function cookie(value, maxAge) {
  return `so_vid=${value}; Max-Age=${maxAge}; Domain=example.com; Path=/; Secure; SameSite=Lax`;
}
