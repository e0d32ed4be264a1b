// Package resolver queries the name servers that this machine uses: for the CNAME record of
// one name, which it does not follow, and for whether a name exists.
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

// Resolver queries name servers for CNAME records. It is safe for concurrent use.
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

// IsPublished reports whether the record's name is an alias (CNAME) for the record's value.
// It fails if no name server answers.
func (r *Resolver) IsPublished(ctx context.Context, _ string, record channels.Record) (bool, error) {
	name := dns.Fqdn(record.Name)
	if _, ok := dns.IsDomainName(name); !ok {
		return false, nil
	}
	answer, err := r.askServers(ctx, new(dns.Msg).SetQuestion(name, dns.TypeCNAME))
	if err != nil {
		return false, err
	}
	return holds(answer, name, dns.Fqdn(record.Value)), nil
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

func holds(answer *dns.Msg, name, value string) bool {
	for _, found := range answer.Answer {
		alias, ok := found.(*dns.CNAME)
		if ok && strings.EqualFold(alias.Hdr.Name, name) && strings.EqualFold(alias.Target, value) {
			return true
		}
	}
	return false
}
