// Package resolver queries the name servers that this machine uses: for the CNAME record of
// one name, which it does not follow, for the MX records of a name, and for whether a name
// exists.
package resolver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/miekg/dns"
)

// Resolver queries name servers for DNS records. It is safe for concurrent use.
type Resolver struct {
	// Servers has the addresses of the name servers as host:port. They are queried in this
	// order until one answers.
	Servers []string
	// Timeout is the time limit of one query to one server; zero means 5 seconds.
	Timeout time.Duration
}

var _ channels.DNS = (*Resolver)(nil)

const (
	systemFile     = "/etc/resolv.conf"
	defaultTimeout = 5 * time.Second
)

// System returns a Resolver for the name servers in /etc/resolv.conf. If the file names no
// server, every query fails.
func System() *Resolver {
	r := &Resolver{}
	if config, err := dns.ClientConfigFromFile(systemFile); err == nil {
		for _, server := range config.Servers {
			r.Servers = append(r.Servers, net.JoinHostPort(server, config.Port))
		}
	}
	return r
}

// errNoAnswer means that it is unknown whether the record is published.
var errNoAnswer = errors.New("resolver: no name server answered")

// IsPublished reports whether the DNS has a record. For the type MX it reports whether the host
// in the record's value is among the mail servers of the name, with any preference. For other
// types it reports whether the name is an alias (CNAME) for the value. It fails if no name
// server answers.
func (r *Resolver) IsPublished(ctx context.Context, _ string, record channels.Record) (bool, error) {
	name := dns.Fqdn(record.Name)
	if _, ok := dns.IsDomainName(name); !ok {
		return false, nil
	}
	asked, holds := dns.TypeCNAME, holdsAlias
	if record.Type == "MX" {
		asked, holds = dns.TypeMX, holdsExchange
	}
	answer, err := r.askServers(ctx, new(dns.Msg).SetQuestion(name, asked))
	if err != nil {
		return false, err
	}
	return holds(answer, name, record.Value), nil
}

// Alias returns the target of the CNAME record of a name as published, without the final dot, or
// "" if the name has none. It fails if no name server answers.
func (r *Resolver) Alias(ctx context.Context, name string) (string, error) {
	name = dns.Fqdn(name)
	if _, ok := dns.IsDomainName(name); !ok {
		return "", nil
	}
	answer, err := r.askServers(ctx, new(dns.Msg).SetQuestion(name, dns.TypeCNAME))
	if err != nil {
		return "", err
	}
	for _, found := range answer.Answer {
		if alias, ok := found.(*dns.CNAME); ok && strings.EqualFold(alias.Hdr.Name, name) {
			return strings.TrimSuffix(alias.Target, "."), nil
		}
	}
	return "", nil
}

// askServers returns the answer of the first server that answers.
func (r *Resolver) askServers(ctx context.Context, question *dns.Msg) (*dns.Msg, error) {
	failure := errNoAnswer
	for _, server := range r.Servers {
		answer, err := r.ask(ctx, question, server)
		if err == nil {
			return answer, nil
		}
		failure = err
	}
	return nil, failure
}

// ask sends a query to a name server over UDP, and repeats it over TCP if the answer was
// truncated.
func (r *Resolver) ask(ctx context.Context, question *dns.Msg, server string) (*dns.Msg, error) {
	timeout := r.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer, _, err := new(dns.Client).ExchangeContext(ctx, question, server)
	if err == nil && answer.Truncated {
		answer, _, err = (&dns.Client{Net: "tcp"}).ExchangeContext(ctx, question, server)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("resolver: %w", err)
	case answer.Rcode != dns.RcodeSuccess && answer.Rcode != dns.RcodeNameError:
		return nil, fmt.Errorf("resolver: %s", dns.RcodeToString[answer.Rcode])
	}
	return answer, nil
}

// holdsAlias reports whether an answer has an alias of the name for the value.
func holdsAlias(answer *dns.Msg, name, value string) bool {
	for _, found := range answer.Answer {
		alias, ok := found.(*dns.CNAME)
		if ok && strings.EqualFold(alias.Hdr.Name, name) && strings.EqualFold(alias.Target, dns.Fqdn(value)) {
			return true
		}
	}
	return false
}

// holdsExchange reports whether an answer has an MX record with the host in the value, which is a
// preference and a host. If the name is an alias, the record is that of another name, which mail
// servers follow (RFC 5321 section 5.1).
func holdsExchange(answer *dns.Msg, _, value string) bool {
	_, host, _ := strings.Cut(value, " ")
	for _, found := range answer.Answer {
		if mx, ok := found.(*dns.MX); ok && strings.EqualFold(mx.Mx, dns.Fqdn(host)) {
			return true
		}
	}
	return false
}
