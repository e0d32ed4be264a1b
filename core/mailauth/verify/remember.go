package verify

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/cache"
)

// How long answers are remembered, how many, and up to which size of one in octets. The
// standard library does not tell the time to live of records, which is rarely under a
// minute. A name without records is asked for again sooner: owners publish a record and send
// a message to test it.
const (
	rememberAnswers = 30 * time.Second
	rememberMissing = 10 * time.Second
	maxRemembered   = 5000
	maxAnswer       = 4 << 10
)

// Memory is a Resolver and an Existence that remembers answers for all messages of the
// process. It is safe for concurrent use. Create it with Remember.
type Memory struct {
	resolver  Resolver
	existence Existence
	clock     core.Clock
	answers   *cache.Cache[question, reply]
}

var (
	_ Resolver  = (*Memory)(nil)
	_ Existence = (*Memory)(nil)
)

// question is a query: the kind of records, and the name in lower case.
type question struct{ kind, name string }

// reply is an answer, or that the name has no records.
type reply struct {
	value   any
	missing bool
}

// Remember returns a Memory. Without an existence, every name exists. A nil clock means
// core.SystemClock.
func Remember(resolver Resolver, existence Existence, clock core.Clock) *Memory {
	if clock == nil {
		clock = core.SystemClock
	}
	return &Memory{resolver: resolver, existence: existence, clock: clock, answers: cache.New[question, reply](maxRemembered)}
}

// recall returns the remembered answer to a question, or asks. It remembers answers, and
// that a name has no records, but no failures. size returns the octets of an answer.
func recall[T any](m *Memory, ctx context.Context, kind, name string, query func(context.Context, string) (T, error), size func(T) int) (T, error) {
	var none T
	key := question{kind, strings.ToLower(name)}
	epoch := m.answers.Epoch()
	if known, ok := m.answers.Get(key, m.clock()); ok {
		if known.missing {
			return none, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}
		return known.value.(T), nil
	}
	answer, err := query(ctx, name)
	switch {
	case err == nil && size(answer) <= maxAnswer:
		m.answers.Put(key, reply{value: answer}, m.clock().Add(rememberAnswers), epoch)
	case isNotFound(err):
		m.answers.Put(key, reply{missing: true}, m.clock().Add(rememberMissing), epoch)
	}
	return answer, err
}

// LookupTXT returns the TXT records of a name.
func (m *Memory) LookupTXT(ctx context.Context, name string) ([]string, error) {
	return recall(m, ctx, "TXT", name, m.resolver.LookupTXT, octets)
}

// LookupMX returns the MX records of a name.
func (m *Memory) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	return recall(m, ctx, "MX", name, m.resolver.LookupMX, func(hosts []*net.MX) int {
		var n int
		for _, mx := range hosts {
			n += len(mx.Host)
		}
		return n
	})
}

// LookupIPAddr returns the addresses of a name.
func (m *Memory) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	return recall(m, ctx, "address", host, m.resolver.LookupIPAddr, func(a []net.IPAddr) int { return net.IPv6len * len(a) })
}

// LookupAddr returns the names of an IP address.
func (m *Memory) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	return recall(m, ctx, "PTR", addr, m.resolver.LookupAddr, octets)
}

// Exists reports whether a name exists.
func (m *Memory) Exists(ctx context.Context, name string) (bool, error) {
	if m.existence == nil {
		return true, nil
	}
	return recall(m, ctx, "existence", name, m.existence.Exists, func(bool) int { return 1 })
}

func octets(texts []string) int {
	var n int
	for _, text := range texts {
		n += len(text)
	}
	return n
}
