package verify_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/mailauth"
)

// TestFrom has From fields of every shape. Each message has valid signatures of example.com
// and of esp.test, and SPF passes for example.com. Only a message whose one author domain is
// among these passes.
func TestFrom(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.Add(t, `_dmarc.bank.test. TXT "v=DMARC1; p=reject"`, `_dmarc.esp.test. TXT "v=DMARC1; p=reject"`, `_dmarc.xn--bcher-kva.test. TXT "v=DMARC1; p=reject"`)
	z.AddTXT("ed._domainkey.xn--bcher-kva.test", keyRecord(t, ed25519Key(), ""))
	for from, want := range map[string]struct {
		verdict mailauth.Verdict
		author  string
	}{
		"From: a@example.com":                                          {mailauth.Pass, "example.com"},
		"From: =?gb2312?B?yP0=?= <a@Example.COM>":                      {mailauth.Pass, "example.com"},
		"From: \"ceo@bank.test: Bank\" <a@example.com>":                {mailauth.Pass, "example.com"},
		"From: a (see: bank.test) <a@example.com>":                     {mailauth.Pass, "example.com"},
		"From: a@example.com, b@example.com":                           {mailauth.Pass, "example.com"},
		"From: a@news.example.com":                                     {mailauth.Pass, "news.example.com"},
		"From: \"a@bank.test\"@example.com":                            {mailauth.Pass, "example.com"},
		"FROM : a@example.com":                                         {mailauth.Pass, "example.com"},
		"From: a@bücher.test":                                          {mailauth.Pass, "xn--bcher-kva.test"},
		"From: a@xn--bcher-kva.test":                                   {mailauth.Pass, "xn--bcher-kva.test"},
		"From: ceo@bank.test":                                          {mailauth.Fail, "bank.test"},
		"From: ceo@bank.test, a@example.com":                           {mailauth.Fail, ""},
		"From: a@example.com\r\nFrom: ceo@bank.test":                   {mailauth.Fail, ""},
		"From: a@example.com\r\nfrom : a@example.com":                  {mailauth.Fail, ""},
		"From: a@example.com\r\nFrom:":                                 {mailauth.Fail, ""},
		"Sender: a@example.com":                                        {mailauth.ProcessingFailed, ""},
		"From:":                                                        {mailauth.ProcessingFailed, ""},
		"From: <>":                                                     {mailauth.ProcessingFailed, ""},
		"From: undisclosed:;":                                          {mailauth.ProcessingFailed, ""},
		"From: Staff: a@example.com;":                                  {mailauth.ProcessingFailed, ""},
		"From: Staff: a@example.com, ceo@bank.test;":                   {mailauth.ProcessingFailed, ""},
		"From: a@example.com <ceo@bank.test>":                          {mailauth.ProcessingFailed, ""},
		"From: a@[192.0.2.10]":                                         {mailauth.ProcessingFailed, ""},
		"From: a":                                                      {mailauth.ProcessingFailed, ""},
		"From: a@exa mple.com":                                         {mailauth.ProcessingFailed, ""},
		"From: a@example.com\x00":                                      {mailauth.ProcessingFailed, ""},
		"From: a@\xff.test":                                            {mailauth.ProcessingFailed, ""},
		"From: " + strings.Repeat("a@example.com,", 1000) + "a@b.test": {mailauth.ProcessingFailed, ""},
	} {
		message := from + "\r\nSubject: x\r\n\r\ntext\r\n"
		if strings.Contains(strings.ToLower(from), "from") {
			for _, domain := range []string{"example.com", "esp.test", "xn--bcher-kva.test"} {
				message = sign(t, message, signing{domain: domain, selector: "ed", key: ed25519Key()})
			}
		}
		got := authenticate(t, z, input("b@example.com", message)).DMARC
		if got.Verdict() != want.verdict || got.Author != want.author {
			t.Errorf("%.60q: %+v", from, got)
		}
		if got.Verdict() != mailauth.Pass && got.Reason == "" {
			t.Errorf("%.60q: no reason", from)
		}
	}
}

// TestShownFrom checks that DMARC does not pass if readers are shown another domain than the
// one in the header.
func TestShownFrom(t *testing.T) {
	t.Parallel()
	message := sign(t, plain, signing{domain: "example.com", selector: "ed", key: ed25519Key()})
	for shown, want := range map[string]mailauth.Verdict{
		"": mailauth.Pass, "news@example.com": mailauth.Pass, "other@EXAMPLE.com": mailauth.Pass,
		"ceo@bank.test": mailauth.Fail, "news@example.com ceo@bank.test": mailauth.Fail, "nonsense": mailauth.ProcessingFailed,
	} {
		in := input("b@example.com", message)
		in.From = strings.Fields(shown)
		if got := authenticate(t, newZone(t), in).DMARC; got.Verdict() != want {
			t.Errorf("%q: %+v", shown, got)
		}
	}
}

// TestFailedQueries checks when a failed query changes the result of DMARC: only if an
// aligned domain could have been authenticated.
func TestFailedQueries(t *testing.T) {
	t.Parallel()
	aligned := signing{domain: "example.com", selector: "ed", key: ed25519Key()}
	other := signing{domain: "esp.test", selector: "ed", key: ed25519Key()}
	for name, c := range map[string]struct {
		mailFrom, message string
		broken            []string
		want              mailauth.Verdict
	}{
		"SPF of the author":                  {"b@example.com", plain, []string{"example.com"}, mailauth.ProcessingFailed},
		"SPF of a subdomain":                 {"b@bounce.example.com", plain, []string{"bounce.example.com"}, mailauth.ProcessingFailed},
		"SPF of another domain":              {"b@esp.test", plain, []string{"esp.test", "_dmarc.esp.test"}, mailauth.Fail},
		"key of the author":                  {"b@esp.test", sign(t, plain, aligned), []string{"ed._domainkey.example.com"}, mailauth.ProcessingFailed},
		"key of another domain":              {"b@esp.test", sign(t, plain, other), []string{"ed._domainkey.esp.test"}, mailauth.Fail},
		"policy of another domain":           {"b@esp.test", sign(t, plain, other), []string{"_dmarc.esp.test"}, mailauth.Fail},
		"policy of the author":               {"b@example.com", sign(t, plain, aligned), []string{"_dmarc.example.com"}, mailauth.ProcessingFailed},
		"policy above the author":            {"b@example.com", sign(t, plain, aligned), []string{"_dmarc.com"}, mailauth.ProcessingFailed},
		"SPF, with an aligned signature":     {"b@example.com", sign(t, plain, aligned), []string{"example.com"}, mailauth.Pass},
		"key, with SPF of an aligned domain": {"b@example.com", sign(t, plain, aligned), []string{"ed._domainkey.example.com"}, mailauth.Pass},
	} {
		z := newZone(t)
		z.Break(c.broken...)
		if got := authenticate(t, z, input(c.mailFrom, c.message)).DMARC; got.Verdict() != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestNumberOfQueries counts the queries for a message with five signatures of subdomains
// and a deep author domain.
func TestNumberOfQueries(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	message := strings.ReplaceAll(plain, "news@example.com", "a@a.b.c.d.e.f.g.h.i.example.com")
	for _, sub := range []string{"k1.", "k2.", "k3.", "k4.", "k5."} {
		domain := strings.Repeat(sub, 9) + "example.com"
		z.AddTXT("ed._domainkey."+domain, keyRecord(t, ed25519Key(), ""))
		z.AddTXT("_dmarc."+domain, "v=DMARC1; p=none; psd=n")
		message = sign(t, message, signing{domain: domain, selector: "ed", key: ed25519Key()})
	}
	got := authenticate(t, z, input("b@esp.test", message))
	if got.DKIM.Outcome != "pass" || got.DMARC.Outcome != "fail" {
		t.Errorf("%+v", got)
	}
	// One for SPF, a key and a policy record for each signature, and eight for the author.
	if n := z.Queries(""); n != 1+5+5+8 {
		t.Errorf("%d queries", n)
	}
	if n := z.Queries("_dmarc.com"); n != 1 {
		t.Errorf("the record of the top-level domain was asked for %d times", n)
	}
}
