package verify_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/mailauth"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
	"github.com/mailhelm/mailhelm/core/mailauth/verify"
)

// FuzzAuthenticate checks messages and envelopes of any form. No domain in the zone is
// authorized for the client but esp.test, and no key is known to the fuzzer, so DMARC passes
// only for authors of esp.test and below.
func FuzzAuthenticate(f *testing.F) {
	f.Add("b@esp.test", "mx.esp.test", plain)
	f.Add("", "esp.test", rfc8463)
	f.Add(`"a@bank.test"@esp.test`, "", "From: a@esp.test\r\nFrom : ceo@bank.test\r\n\r\n")
	f.Add("b@esp.test", "", "From: g: a@esp.test;\r\nDKIM-Signature: v=1; h=from; d=esp.test; s=ed; bh=; b=; a=ed25519-sha256\r\n")
	f.Fuzz(func(t *testing.T, mailFrom, helo, message string) {
		z := newZone(t)
		in := input(mailFrom, message)
		in.Helo = helo
		a := &verify.Authenticator{Resolver: z, Existence: z}
		got := a.Authenticate(t.Context(), in)
		if got.DKIM.Verdict() == mailauth.Pass {
			t.Fatalf("DKIM passed: %+v", got)
		}
		if got.DMARC.Verdict() == mailauth.Pass && !strings.HasSuffix("."+got.DMARC.Author, ".esp.test") && !strings.HasSuffix("."+got.DMARC.Author, ".example.com") {
			t.Fatalf("DMARC passed: %+v", got)
		}
		if z.Queries("") > 120 {
			t.Fatalf("%d queries", z.Queries(""))
		}
	})
}

// BenchmarkNameServer checks an 11 KB message with a name server on loopback, with and
// without a Memory.
func BenchmarkNameServer(b *testing.B) {
	body := plain + strings.Repeat("An ordinary line of text in a newsletter, with a link to https://example.com/a.\r\n", 125)
	message := sign(b, body, signing{domain: "example.com", selector: "rsa", key: rsaKey()})
	z := newZone(b)
	server := mailauthtest.Resolver(z.Serve(b))
	for name, dns := range map[string]verify.Resolver{"asked": server, "remembered": verify.Remember(server, nil, nil)} {
		b.Run(name, func(b *testing.B) {
			a := &verify.Authenticator{Resolver: dns, Existence: z}
			before := z.Queries("")
			b.SetParallelism(8)
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if got := a.Authenticate(b.Context(), input("b@bounce.example.com", message)); verdicts(got) != "PASS PASS PASS" {
						b.Error(got)
					}
				}
			})
			b.ReportMetric(float64(z.Queries("")-before)/float64(b.N), "queries/op")
		})
	}
}

// BenchmarkAuthenticate checks an 11 KB message with one signature, with DNS in memory.
func BenchmarkAuthenticate(b *testing.B) {
	body := plain + strings.Repeat("An ordinary line of text in a newsletter, with a link to https://example.com/a.\r\n", 125)
	for name, s := range map[string]signing{
		"rsa2048": {domain: "example.com", selector: "rsa", key: rsaKey()},
		"ed25519": {domain: "example.com", selector: "ed", key: ed25519Key()},
	} {
		message := sign(b, body, s)
		z := newZone(b)
		a := &verify.Authenticator{Resolver: z, Existence: z}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(message)))
			b.ReportAllocs()
			for b.Loop() {
				if got := a.Authenticate(b.Context(), input("b@bounce.example.com", message)); verdicts(got) != "PASS PASS PASS" {
					b.Fatal(got)
				}
			}
		})
		b.Run(name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					a.Authenticate(b.Context(), input("b@bounce.example.com", message))
				}
			})
		})
	}
}
