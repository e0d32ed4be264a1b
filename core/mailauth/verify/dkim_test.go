package verify_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/mailhelm/mailhelm/core/mailauth"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
	"github.com/mailhelm/mailhelm/core/mailauth/verify"
)

// rfc8463 is the signed message of RFC 8463 appendix A.3, and rfc8463Keys has the keys of
// appendix A.2. Another implementation made the signatures.
var rfc8463 = crlf(`DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;
 d=football.example.com; i=@football.example.com;
 q=dns/txt; s=brisbane; t=1528637909; h=from : to :
 subject : date : message-id : from : subject : date;
 bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
 b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus
 Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==
DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;
 d=football.example.com; i=@football.example.com;
 q=dns/txt; s=test; t=1528637909; h=from : to : subject :
 date : message-id : from : subject : date;
 bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
 b=F45dVWDfMbQDGHJFlXUNB2HKfbCeLRyhDXgFpEL8GwpsRe0IeIixNTe3
 DhCVlUrSjV4BwcVcOF6+FF3Zo9Rpo1tFOeS9mPYQTnGdaSGsgeefOsk2Jz
 dA+L10TeYt9BgDfQNZtKdN1WO//KgIqXP7OdEFE4LjFYNcUxZQ4FADY+8=
From: Joe SixPack <joe@football.example.com>
To: Suzie Q <suzie@shopping.example.net>
Subject: Is dinner ready?
Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)
Message-ID: <20030712040037.46341.5F8J@football.example.com>

Hi.

We lost the game.  Are you hungry yet?

Joe.
`)

var rfc8463Keys = []string{
	`brisbane._domainkey.football.example.com. TXT "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="`,
	`test._domainkey.football.example.com. TXT "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHlOQoBTzWR" ` +
		`"iGs5V6NpP3idY6Wk08a5qhdR6wy5bdOKb2jLQiY/J16JYi0Qvx/byYzCNb3W91y3FutAC" ` +
		`"DfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqMKrM3rG4hstT5QjvHO9PzoxZyVYLzBfO2EeC3" ` +
		`"Ip3G+2kryOTIKT+l/K4w3QIDAQAB"`,
	`_dmarc.football.example.com. TXT "v=DMARC1; p=reject"`,
}

func TestPublishedExample(t *testing.T) {
	t.Parallel()
	got := authenticate(t, mailauthtest.NewZone(t, rfc8463Keys...), input("joe@football.example.com", rfc8463))
	if len(got.DKIM.Signatures) != 2 || got.DKIM.Signatures[0].Outcome != "pass" || got.DKIM.Signatures[1].Outcome != "pass" ||
		got.DMARC.Verdict() != mailauth.Pass {
		t.Errorf("%+v", got)
	}
	changed := strings.Replace(rfc8463, "We lost", "We won", 1)
	if got := authenticate(t, mailauthtest.NewZone(t, rfc8463Keys...), input("joe@football.example.com", changed)); verdicts(got) != "GRAY FAIL FAIL" {
		t.Errorf("changed: %+v", got)
	}
}

// TestSignatures has one fault for each message.
func TestSignatures(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	large, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	z.AddTXT("large._domainkey.example.com", "v=DKIM1; p="+base64.StdEncoding.EncodeToString(make([]byte, 700)))
	z.AddTXT("empty._domainkey.example.com", "v=DKIM1; p=")
	z.AddTXT("junk._domainkey.example.com", "v=DKIM1; p=AAAA")
	z.AddTXT("testing._domainkey.example.com", keyRecord(t, ed25519Key(), "t=y; "))
	z.AddTXT("self._domainkey.example.com", keyRecord(t, ed25519Key(), "t=s; "))
	z.AddTXT("other._domainkey.example.com", keyRecord(t, large, ""))
	z.AddTXT("two._domainkey.example.com", keyRecord(t, large, ""))
	z.AddTXT("two._domainkey.example.com", keyRecord(t, ed25519Key(), ""))
	z.AddTXT("ed._domainkey.xn--bcher-kva.test", keyRecord(t, ed25519Key(), ""))
	z.Break("broken._domainkey.example.com")
	by := func(selector string) signing {
		return signing{domain: "example.com", selector: selector, key: ed25519Key()}
	}
	signed := func(s signing, change ...string) string {
		return strings.NewReplacer(change...).Replace(sign(t, plain, s))
	}
	expired := by("ed")
	expired.change = func(o *dkim.SignOptions) { o.Expiration = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
	subdomain := by("self")
	subdomain.identifier = "news@mail.example.com"
	simple := by("ed")
	simple.change = func(o *dkim.SignOptions) { o.HeaderCanonicalization, o.BodyCanonicalization = "simple", "simple" }
	for name, c := range map[string]struct {
		message string
		outcome mailauth.Outcome
		reason  string
	}{
		"ed25519":                {signed(by("ed")), "pass", ""},
		"simple":                 {signed(simple), "pass", ""},
		"changed body":           {signed(by("ed"), "welcome", "wellcome"), "fail", "the body was changed"},
		"changed header":         {signed(by("ed"), "Subject: Hello", "Subject: Help"), "fail", "the signature does not verify"},
		"another key":            {signed(signing{domain: "example.com", selector: "other", key: rsaKey()}), "fail", "the signature does not verify"},
		"no key":                 {signed(by("none")), "fail", "the signing domain has no such key"},
		"revoked key":            {signed(by("empty")), "fail", "the signing domain has no such key"},
		"large key":              {signed(by("large")), "permerror", "the key is longer than 4096 bits"},
		"malformed key":          {signed(by("junk")), "permerror", "the signature or its key is malformed, or not supported"},
		"several keys":           {signed(by("two")), "permerror", "the signature or its key is malformed, or not supported"},
		"key in test mode":       {signed(by("testing")), "neutral", "the signing domain is testing the key"},
		"key in test mode, bad":  {signed(by("testing"), "welcome", "wellcome"), "neutral", "the signing domain is testing the key"},
		"DNS":                    {signed(by("broken")), "temperror", "a DNS query failed"},
		"subdomain not allowed":  {signed(subdomain), "fail", "the key is not for subdomains"},
		"expired":                {signed(expired), "fail", "the signature has expired"},
		"part of the body":       {signed(by("ed"), " d=example.com;", " d=example.com; l=5;"), "fail", "the signature covers only the beginning of the body"},
		"SHA-1":                  {signed(by("ed"), "ed25519-sha256", "ed25519-sha1"), "permerror", "the signature or its key is malformed, or not supported"},
		"From not signed":        {signed(by("ed"), "h=From:", "h=X:"), "permerror", "the signature or its key is malformed, or not supported"},
		"no tags":                {"DKIM-Signature: nonsense\r\n" + plain, "permerror", "the signature or its key is malformed, or not supported"},
		"identity elsewhere":     {signed(by("ed"), "v=1;", "v=1; i=a@bank.test;"), "permerror", "the signature or its key is malformed, or not supported"},
		"domain that is no name": {signed(by("ed"), "d=example.com", "d=[192.0.2.1]"), "permerror", "the signature or its key is malformed, or not supported"},
		"internationalized":      {signed(signing{domain: "bücher.test", selector: "ed", key: ed25519Key()}), "pass", ""},
		"a second From on top":   {"From: Bank <ceo@bank.test>\r\n" + signed(by("ed")), "pass", ""},
	} {
		in := input("", c.message)
		in.Helo = ""
		got := authenticate(t, z, in)
		if got.DKIM.Outcome != c.outcome || len(got.DKIM.Signatures) != 1 || got.DKIM.Signatures[0].Outcome != c.outcome || got.DKIM.Signatures[0].Reason != c.reason {
			t.Errorf("%s: %+v", name, got.DKIM)
		}
		if name != "ed25519" && name != "simple" && got.DMARC.Outcome == "pass" {
			t.Errorf("%s: %+v", name, got.DMARC)
		}
	}
}

// TestClock checks that a signature expires by the clock of the Authenticator.
func TestClock(t *testing.T) {
	t.Parallel()
	end := time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC)
	message := sign(t, plain, signing{domain: "example.com", selector: "ed", key: ed25519Key(), change: func(o *dkim.SignOptions) { o.Expiration = end }})
	for now, want := range map[time.Time]mailauth.Outcome{end: "pass", end.Add(time.Second): "fail"} {
		a := &verify.Authenticator{Resolver: newZone(t), Clock: func() time.Time { return now }}
		if got := a.Authenticate(t.Context(), input("b@example.com", message)).DKIM; got.Outcome != want {
			t.Errorf("%s: %+v", now, got)
		}
	}
}

// TestSeveralSignatures checks which of several results counts, and that at most five are
// checked.
func TestSeveralSignatures(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.Break("broken._domainkey.example.com")
	z.AddTXT("junk._domainkey.example.com", "v=DKIM1; p=AAAA")
	all := func(selectors string) string {
		message := plain
		for _, selector := range strings.Fields(selectors) {
			message = sign(t, message, signing{domain: "example.com", selector: selector, key: ed25519Key()})
		}
		return message
	}
	for selectors, want := range map[string]mailauth.Outcome{
		"none broken ed junk": "pass",
		"none broken junk":    "temperror",
		"junk none":           "fail",
		"ed ed ed ed ed":      "pass",
	} {
		got := authenticate(t, z, input("", all(selectors))).DKIM
		if got.Outcome != want || len(got.Signatures) != len(strings.Fields(selectors)) || got.Unchecked != 0 {
			t.Errorf("%s: %+v", selectors, got)
		}
	}
	// The last one that was added is on top of the header.
	before := z.Queries("ed._domainkey.example.com")
	got := authenticate(t, z, input("", all("ed ed none none none none none"))).DKIM
	if got.Outcome != "fail" || len(got.Signatures) != 5 || got.Unchecked != 2 || z.Queries("ed._domainkey.example.com") != before {
		t.Errorf("seven signatures: %+v", got)
	}
}

func TestMessageWithoutBody(t *testing.T) {
	t.Parallel()
	head, _, _ := strings.Cut(plain, "\r\n\r\n")
	signed := sign(t, head+"\r\n\r\n", signing{domain: "example.com", selector: "ed", key: ed25519Key()})
	for _, message := range []string{signed, strings.TrimSuffix(signed, "\r\n")} {
		if got := authenticate(t, newZone(t), input("", message)); got.DKIM.Outcome != "pass" || got.DMARC.Outcome != "pass" {
			t.Errorf("%+v", got)
		}
	}
}

// cutAtReturn returns a message whose header is longer than what is read of it. The last
// octet that is read is a carriage return after a line end, as in an empty line.
func cutAtReturn(signature, body string) string {
	start := "From: b@evil.test\r\n" + signature + "X: "
	return start + strings.Repeat("x", 256<<10-len(start)-3) + "\r\n\rY: z\r\n" + body
}

// TestHostileMessages has messages that take the DKIM library long. Each signature has a key
// of the attacker, so that it is checked to the end.
func TestHostileMessages(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.AddTXT("ed._domainkey.evil.test", keyRecord(t, ed25519Key(), ""))
	signature := func(names, c string) string {
		return "DKIM-Signature: v=1; a=ed25519-sha256; d=evil.test; s=ed; c=" + c + "; h=From" + names + "; bh=AAAA; b=AAAA\r\n"
	}
	body := "From: a@evil.test\r\n\r\ntext\r\n"
	for name, c := range map[string]struct{ message, reason string }{
		"large header":     {signature("", "relaxed/relaxed") + "X: " + strings.Repeat("x", 300<<10) + "\r\n" + body, "the header is too large"},
		"cut at a return":  {cutAtReturn(signature("", "relaxed/relaxed"), body), "the header is too large"},
		"endless header":   {signature("", "relaxed/relaxed") + strings.Repeat("X: y\r\n", 100_000), "the header is too large"},
		"many fields":      {signature("", "relaxed/relaxed") + strings.Repeat("X: y\r\n", 1100) + body, "the header is too large"},
		"many lines":       {signature("", "relaxed/relaxed") + "X: y\r\n" + strings.Repeat(" y\r\n", 5000) + body, "the header is too large"},
		"many names":       {signature(strings.Repeat(":x", 300), "relaxed/relaxed") + body, "a signature lists too many fields"},
		"many empty lines": {signature("", "simple/simple") + body + strings.Repeat("\r\n", 10<<20), "the message has too many empty lines in a row"},
	} {
		got := authenticate(t, z, input("b@evil.test", c.message))
		if got.DKIM.Outcome != "permerror" || got.DKIM.Reason != c.reason || got.DMARC.Verdict() == mailauth.Pass {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, message := range []string{
		strings.Repeat(signature(strings.Repeat(":x", 240), "simple/simple"), 5) + strings.Repeat("X: y\r\n", 990) + body,
		strings.Repeat(signature("", "simple/simple"), 5) + body + strings.Repeat(strings.Repeat("\r\n", 4000)+"x", 800),
	} {
		a := &verify.Authenticator{Resolver: z, Timeout: time.Minute}
		if got := a.Authenticate(t.Context(), input("b@evil.test", message)); got.DKIM.Outcome != "fail" || len(got.DKIM.Signatures) != 5 {
			t.Errorf("within the limits: %+v", got.DKIM)
		}
	}
}
