// Passkeys of a form: asks the host for a question, puts it to the authenticator,
// and sends the form with the answer. Without this script the forms stay hidden.
"use strict";

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const named = (list) => (list || []).map((one) => ({ ...one, id: bytes(one.id) }));

function questionOf(options) {
  const q = { ...options.publicKey, challenge: bytes(options.publicKey.challenge) };
  if (q.user) q.user = { ...q.user, id: bytes(q.user.id) };
  if (q.excludeCredentials) q.excludeCredentials = named(q.excludeCredentials);
  if (q.allowCredentials) q.allowCredentials = named(q.allowCredentials);
  return { publicKey: q };
}

function answerOf(credential) {
  const from = credential.response;
  const response = { clientDataJSON: text(from.clientDataJSON) };
  for (const part of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (from[part]) response[part] = text(from[part]);
  }
  if (from.getTransports) response.transports = from.getTransports();
  return JSON.stringify({
    id: credential.id, rawId: text(credential.rawId), type: credential.type, response,
    authenticatorAttachment: credential.authenticatorAttachment || undefined, clientExtensionResults: {},
  });
}

async function answer(form) {
  const reply = await fetch(form.dataset.ask, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  const asked = await reply.json();
  if (asked.problem) throw new Error(asked.problem);
  const credential = await navigator.credentials[form.dataset.passkey](questionOf(asked.options));
  form.elements.ceremony.value = asked.ceremony;
  form.elements.answer.value = answerOf(credential);
  form.submit();
}

if (window.PublicKeyCredential) {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const problem = form.querySelector("[role=alert]");
      const button = form.querySelector("button");
      button.disabled = true;
      problem.hidden = true;
      try {
        await answer(form);
      } catch (failure) {
        problem.textContent =
          failure.name === "Error" ? failure.message
          : failure.name === "InvalidStateError" ? "This device already has a passkey of your account."
          : "No passkey was used. Try again, or use another method.";
        problem.hidden = false;
        button.disabled = false;
      }
    });
  }
}
