"""Sends messages with smtplib to the server on argv[1] and argv[2]. argv[3] is the file with
the certificate of the server. Prints one line for each message that was accepted."""

import smtplib
import ssl
import sys
from email.headerregistry import Address
from email.message import EmailMessage

host, port, certificate = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def client():
    return smtplib.SMTP(host, port, local_hostname="client.example.org", timeout=30)


def message(text, to=Address(username="inbox", domain="org.example.com")):
    m = EmailMessage()
    m["From"], m["To"], m["Subject"] = "ada@example.org", to, text
    m.set_content(text + "\n.\n..\n.hidden\n")
    return m


with client() as c:
    c.send_message(message("plain"))
    print("plain")

with client() as c:
    c.starttls(context=ssl.create_default_context(cafile=certificate))
    c.send_message(message("starttls"))
    print("starttls")

with client() as c:
    c.send_message(message("grüße", Address(username="grüße", domain="org.example.com")))
    print("smtputf8")

with client() as c:
    c.ehlo()
    c.mail("ada@example.org", ["BODY=8BITMIME", "SIZE=100"])
    c.rcpt("inbox@org.example.com")
    code, text = c.data("Subject: 8bit\r\n\r\ngrüße\r\n".encode())
    assert code == 250, text
    print("8bitmime")

with client() as c:
    c.ehlo()
    assert c.has_extn("chunking")
    c.mail("ada@example.org")
    c.rcpt("inbox@org.example.com")
    first, second = b"Subject: chunks\r\n\r\n.\r\n", b"end\r\n"
    c.send(b"BDAT %d\r\n%bBDAT %d LAST\r\n%b" % (len(first), first, len(second), second))
    assert c.getreply()[0] == 250
    code, text = c.getreply()
    assert code == 250, text
    print("chunking")

with client() as c:
    refused = c.sendmail("", ["inbox@org.example.com", "unknown@org.example.com", "inbox@other.example.com"], "Subject: some\r\n\r\n")
    assert {a: code for a, (code, _) in refused.items()} == {"unknown@org.example.com": 550, "inbox@other.example.com": 452}, refused
    print("some")
