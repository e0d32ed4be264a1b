package verify_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/mailauth"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
	"github.com/mailhelm/mailhelm/core/mailauth/verify"
)

// FuzzRecords checks a message whose domain has DNS records of any content: for SPF, for the
// key of its signature, and for DMARC. The records are those of an attacker, so they may
// authorize the attacker's own domain; but they cost a bounded number of queries, make no
// domain pass that did not publish them, and no signature valid.
func FuzzRecords(f *testing.F) {
	for _, seed := range [][3]string{
		{"v=spf1 ip4:192.0.2.10 -all", "v=DKIM1; k=rsa; p=", "v=DMARC1; p=reject"},
		{"v=spf1 include:evil.test include:evil.test redirect=evil.test", "p=AAAA", "v=DMARC1; p=none; rua=mailto:a@b"},
		{"v=spf1 a mx ptr exists:%{i}.%{l1r-}.%{d2}.evil.test -all", "v=DKIM1; t=y:s; h=sha1:sha256; s=*; n=x; p=!!", "v=DMARC1; p=quarantine; t=y; psd=u; np=reject"},
		{"v=spf1 exp=%{s}%{c}%{r}%{t}%%%_%-", "k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "v=DMARC1;;;=;p"},
		{"v=spf1 ip6:::/0 ip4:0.0.0.0/0 +all", "\x00", "v=DMARC1; p=reject; adkim=r; aspf=r; sp=\xff"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	signed := sign(f, crlf("From: a@evil.test\nSubject: x\n\nx\n"), signing{domain: "evil.test", selector: "s", key: ed25519Key()})
	forged := sign(f, plain, signing{domain: "evil.test", selector: "s", key: ed25519Key()})
	key := keyRecord(f, ed25519Key(), "")
	f.Fuzz(func(t *testing.T, spf, dkim, dmarc string) {
		for _, text := range []string{spf, dkim, dmarc} {
			if len(text) > 4000 {
				return
			}
		}
		z := mailauthtest.NewZone(t, `_dmarc.example.com. TXT "v=DMARC1; p=reject"`)
		z.AddTXT("evil.test", spf)
		z.AddTXT("s._domainkey.evil.test", dkim)
		z.AddTXT("_dmarc.evil.test", dmarc)
		a := &verify.Authenticator{Resolver: z, Existence: z}
		if got := a.Authenticate(t.Context(), input("b@evil.test", forged)); got.DMARC.Verdict() == mailauth.Pass {
			t.Errorf("a message from example.com passes: %+v", got)
		}
		before := z.Queries("")
		got := a.Authenticate(t.Context(), input("b@evil.test", signed[:len(signed)-3]+"y\r\n"))
		if got.DKIM.Verdict() == mailauth.Pass {
			t.Errorf("a changed message passes with the key record %q (its own is %q): %+v", dkim, key, got)
		}
		if n := z.Queries("") - before; n > 80 {
			t.Errorf("%d queries", n)
		}
	})
}
