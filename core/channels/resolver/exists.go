package resolver

import (
	"context"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// Exists reports whether a domain name exists. It is false only if a name server answers
// NXDOMAIN. A name without records of its own but with names below it exists (RFC 8020), and
// so does an alias of a name that does not exist. It fails if no name server answers.
func (r *Resolver) Exists(ctx context.Context, name string) (bool, error) {
	name = dns.Fqdn(name)
	if _, ok := dns.IsDomainName(name); !ok {
		return false, nil
	}
	answer, err := r.askServers(ctx, new(dns.Msg).SetQuestion(name, dns.TypeTXT))
	if err != nil {
		return false, err
	}
	own := slices.ContainsFunc(answer.Answer, func(rr dns.RR) bool { return strings.EqualFold(rr.Header().Name, name) })
	return own || answer.Rcode != dns.RcodeNameError, nil
}
