package verify_test

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/mailhelm/mailhelm/core/mailauth"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
	"github.com/mailhelm/mailhelm/core/mailauth/verify"
)

// rsaKey and ed25519Key sign messages in tests. They are made once, because an RSA key takes
// long.
var (
	rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		return key
	})
	ed25519Key = sync.OnceValue(func() ed25519.PrivateKey {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			panic(err)
		}
		return key
	})
)

// keyRecord returns the DKIM key record of a key, with further tags in front of it.
func keyRecord(t testing.TB, key crypto.Signer, tags string) string {
	t.Helper()
	if public, ok := key.Public().(ed25519.PublicKey); ok {
		return "v=DKIM1; " + tags + "k=ed25519; p=" + base64.StdEncoding.EncodeToString(public)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return "v=DKIM1; " + tags + "k=rsa; p=" + base64.StdEncoding.EncodeToString(der)
}

// crlf replaces the line ends of a message in a test by those of SMTP.
func crlf(message string) string { return strings.ReplaceAll(message, "\n", "\r\n") }

// plain is a message from example.com without a signature.
var plain = crlf(`From: Shop <news@example.com>
To: a@inbox.test
Subject: Hello
Date: Fri, 11 Sep 2026 20:32:33 +0000
Message-ID: <1@example.com>

Hello,

welcome.
`)

// signing says how a message is signed.
type signing struct {
	domain, selector, identifier string
	key                          crypto.Signer
	change                       func(*dkim.SignOptions)
}

// sign returns the message with a signature on top.
func sign(t testing.TB, message string, s signing) string {
	t.Helper()
	options := &dkim.SignOptions{
		Domain: s.domain, Selector: s.selector, Identifier: s.identifier, Signer: s.key,
		HeaderCanonicalization: dkim.CanonicalizationRelaxed, BodyCanonicalization: dkim.CanonicalizationRelaxed,
		HeaderKeys: []string{"From", "To", "Subject", "Date", "Message-ID"},
	}
	if s.change != nil {
		s.change(options)
	}
	var signed bytes.Buffer
	if err := dkim.Sign(&signed, strings.NewReader(message), options); err != nil {
		t.Fatal(err)
	}
	return signed.String()
}

// client is the address of the SMTP client in tests; the SPF records of the zone allow it.
var client = netip.MustParseAddr("192.0.2.10")

// newZone returns the records of example.com and a few other domains.
func newZone(t testing.TB) *mailauthtest.Zone {
	t.Helper()
	z := mailauthtest.NewZone(t,
		`example.com. TXT "v=spf1 ip4:192.0.2.10 -all"`,
		`_dmarc.example.com. TXT "v=DMARC1; p=reject"`,
		`bounce.example.com. TXT "v=spf1 include:example.com -all"`,
		`esp.test. TXT "v=spf1 ip4:192.0.2.0/24 ~all"`,
		`soft.test. TXT "v=spf1 ~all"`,
		`neutral.test. TXT "v=spf1 ?all"`,
		`bad.test. TXT "v=spf1 nonsense"`,
		`twice.test. TXT "v=spf1 -all"`, `twice.test. TXT "v=spf1 +all"`,
		`nospf.test. TXT "something else"`,
		`quiet.test. TXT "v=spf1 -all"`, `_dmarc.quiet.test. TXT "v=DMARC1; p=none"`,
	)
	z.AddTXT("rsa._domainkey.example.com", keyRecord(t, rsaKey(), ""))
	z.AddTXT("ed._domainkey.example.com", keyRecord(t, ed25519Key(), ""))
	z.AddTXT("ed._domainkey.esp.test", keyRecord(t, ed25519Key(), ""))
	return z
}

// input returns the Input for a message from the client with the envelope sender.
func input(mailFrom, message string) mailauth.Input {
	return mailauth.Input{
		RemoteIP: client, Helo: "mx.example.com", MailFrom: mailFrom,
		Message: strings.NewReader(message), Size: int64(len(message)),
	}
}

// authenticate checks a message with the records of the zone.
func authenticate(t testing.TB, z *mailauthtest.Zone, in mailauth.Input) mailauth.Result {
	t.Helper()
	return (&verify.Authenticator{Resolver: z, Existence: z}).Authenticate(t.Context(), in)
}

// verdicts returns the three verdicts as "SPF DKIM DMARC".
func verdicts(r mailauth.Result) string {
	return strings.Join([]string{string(r.SPF.Verdict()), string(r.DKIM.Verdict()), string(r.DMARC.Verdict())}, " ")
}
