package verify

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Resolver asks DNS. A *net.Resolver is one. Its errors are of the type *net.DNSError, with
// IsNotFound for a name without records of the type.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// Existence asks whether a domain name exists: it is false only if a name server answered
// NXDOMAIN. A *net.Resolver does not tell that from a name without records.
type Existence interface {
	Exists(ctx context.Context, name string) (bool, error)
}

// The numbers of queries for one message. SPF allows ten terms, each with ten hosts (RFC
// 7208 section 4.6.4); few records need as many. DMARC walks from the author domain, the SPF
// domain and each signing domain, with at most eight queries each.
const (
	maxSPFQueries   = 50
	maxDKIMQueries  = maxSignatures
	maxDMARCQueries = 8*(2+maxSignatures) + 1
)

// lookups passes queries to a Resolver until their number is used up, and remembers the TXT
// records for the rest of the check. It makes names absolute. It is safe for concurrent use.
type lookups struct {
	resolver  Resolver
	existence Existence

	mu   sync.Mutex
	left int
	txt  map[string][]string
}

func newLookups(a *Authenticator, limit int) *lookups {
	return &lookups{resolver: a.Resolver, existence: a.Existence, left: limit, txt: map[string][]string{}}
}

// take counts a query. It fails if none is left.
func (l *lookups) take(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == 0 {
		return &net.DNSError{Err: "too many queries for one message", Name: name, IsTemporary: true}
	}
	l.left--
	return nil
}

// absolute appends the final dot, without which a resolver may try its search domains first.
// It returns false for a name beyond ASCII, which does not exist in DNS (RFC 8616 section
// 4).
func absolute(name string) (string, bool) {
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return "", false
	}
	return strings.TrimSuffix(name, ".") + ".", true
}

// ask makes one query. Its errors are of the type *net.DNSError itself, because the
// libraries do not look for wrapped errors. Any error except IsNotFound is temporary: it is
// then not known what the name has.
func ask[T any](l *lookups, ctx context.Context, name string, query func(context.Context, string) (T, error)) (T, error) {
	var none T
	target, ok := absolute(name)
	if !ok {
		return none, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	if err := l.take(name); err != nil {
		return none, err
	}
	answer, err := query(ctx, target)
	if err == nil {
		return answer, nil
	}
	var failure *net.DNSError
	if errors.As(err, &failure) && failure.IsNotFound {
		return none, failure
	}
	// The standard library returns the valid ones of several records with an error.
	return answer, &net.DNSError{Err: "the query failed", UnwrapErr: err, Name: name, IsTemporary: true}
}

// LookupTXT returns the TXT records of a name.
func (l *lookups) LookupTXT(ctx context.Context, name string) ([]string, error) {
	key := strings.ToLower(name)
	l.mu.Lock()
	records, known := l.txt[key]
	l.mu.Unlock()
	if known {
		return records, nil
	}
	records, err := ask(l, ctx, name, l.resolver.LookupTXT)
	if err == nil {
		l.mu.Lock()
		l.txt[key] = records
		l.mu.Unlock()
	}
	return records, err
}

// LookupMX returns the MX records of a name.
func (l *lookups) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	return ask(l, ctx, name, l.resolver.LookupMX)
}

// LookupIPAddr returns the addresses of a name.
func (l *lookups) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	return ask(l, ctx, host, l.resolver.LookupIPAddr)
}

// LookupAddr returns the names of an IP address.
func (l *lookups) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	return ask(l, ctx, addr, func(ctx context.Context, _ string) ([]string, error) { return l.resolver.LookupAddr(ctx, addr) })
}

// records is the Resolver of package dmarc.
type records struct{ *lookups }

var _ dmarc.Resolver = records{}

// TXT returns the TXT records of a name, none if it does not exist.
func (r records) TXT(ctx context.Context, name string) ([]string, error) {
	texts, err := r.LookupTXT(ctx, name)
	if isNotFound(err) {
		r.mu.Lock()
		r.txt[strings.ToLower(name)] = nil
		r.mu.Unlock()
		return nil, nil
	}
	return texts, err
}

// Exists reports whether a name exists. Without an Existence it returns true.
func (r records) Exists(ctx context.Context, name string) (bool, error) {
	if r.existence == nil {
		return true, nil
	}
	return ask(r.lookups, ctx, name, r.existence.Exists)
}

// Records returns the Resolver of package dmarc for a resolver of the standard library. It
// makes at most limit queries and remembers their answers, so use one for each task.
// existence may be nil; then every domain counts as existing.
func Records(resolver Resolver, existence Existence, limit int) dmarc.Resolver {
	return records{newLookups(&Authenticator{Resolver: resolver, Existence: existence}, limit)}
}

func isNotFound(err error) bool {
	var failure *net.DNSError
	return errors.As(err, &failure) && failure.IsNotFound
}
