# Prints the header Set-Cookie with the visitor id. Send it after every login. If it fails,
# log the error and complete the login without the cookie.
set_visitor() { # email, external id
  answer=$(jq -n --arg email "$1" --arg id "$2" '{email: $email, external_id: $id}' |
    curl -sS --fail --max-time 5 https://api.example.com/v1/contacts/identify \
      -H "Authorization: Bearer $MAILHELM_API_KEY" -H "Content-Type: application/json" -d @-) || return
  visitor_cookie "$(printf '%s' "$answer" | jq -r .visitor_id)" 34560000
}

# Prints the header Set-Cookie that removes the visitor id. Send it at logout.
clear_visitor() { visitor_cookie "" 0; }

visitor_cookie() { printf 'Set-Cookie: so_vid=%s; Max-Age=%s; Domain=example.com; Path=/; Secure; SameSite=Lax\n' "$1" "$2"; }
