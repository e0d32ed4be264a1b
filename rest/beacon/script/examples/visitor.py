import json
import os
import urllib.request


def visitor_cookie(email, external_id):
    """Returns the header Set-Cookie with the visitor id. Send it after every login.

    If it fails, log the error and complete the login without the cookie.
    """
    request = urllib.request.Request(
        "https://api.example.com/v1/contacts/identify",
        data=json.dumps({"email": email, "external_id": external_id}).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["MAILHELM_API_KEY"],
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=5) as answer:
        return _cookie(json.load(answer)["visitor_id"], 34560000)


def cleared_visitor_cookie():
    """Returns the header Set-Cookie that removes the visitor id. Send it at logout."""
    return _cookie("", 0)


def _cookie(value, max_age):
    return ("Set-Cookie", f"so_vid={value}; Max-Age={max_age}; Domain=example.com; Path=/; Secure; SameSite=Lax")
