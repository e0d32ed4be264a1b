package resolver_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/channels/resolver"
	"github.com/miekg/dns"
)

func TestExists(t *testing.T) {
	t.Parallel()
	server := nameServer(t, func(w dns.ResponseWriter, q *dns.Msg) {
		answer := new(dns.Msg).SetReply(q)
		switch name := q.Question[0].Name; name {
		case "empty.example.com.":
		case "alias.example.com.":
			answer.Rcode = dns.RcodeNameError
			answer.Answer = []dns.RR{&dns.CNAME{
				Hdr:    dns.RR_Header{Name: name, Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: 60},
				Target: "none.example.com.",
			}}
		case "refused.example.com.":
			answer.Rcode = dns.RcodeRefused
		default:
			answer.Rcode = dns.RcodeNameError
		}
		_ = w.WriteMsg(answer)
	})
	r := &resolver.Resolver{Servers: []string{server}}
	for name, want := range map[string]struct{ exists, fails bool }{
		"empty.example.com":   {exists: true},
		"alias.example.com":   {exists: true},
		"none.example.com":    {},
		"a..b":                {},
		"refused.example.com": {fails: true},
	} {
		if exists, err := r.Exists(t.Context(), name); exists != want.exists || (err != nil) != want.fails {
			t.Errorf("%s: %v, %v", name, exists, err)
		}
	}
}
