// Package resolver asks DNS for package lookup, through a resolver of the standard library.
package resolver

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
)

// Standard has the methods of a *net.Resolver. Its errors are of the type *net.DNSError, with
// IsNotFound for a name without records of the type. A *net.Resolver must have StrictErrors:
// otherwise it takes a failed query for addresses as none if the other kind was answered.
type Standard interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// Existence answers what a resolver of the standard library does not: whether a name exists, and
// the target of its CNAME record, "" without one.
type Existence interface {
	Exists(ctx context.Context, name string) (bool, error)
	Alias(ctx context.Context, name string) (string, error)
}

// Resolver is a lookup.Resolver. It is safe for concurrent use if its parts are.
type Resolver struct {
	standard  Standard
	existence Existence
}

var _ lookup.Resolver = (*Resolver)(nil)

// New returns a Resolver.
func New(s Standard, e Existence) *Resolver { return &Resolver{standard: s, existence: e} }

// absolute appends the final dot, without which a resolver may try its search domains. It
// returns false for a name that DNS cannot have.
func absolute(name string) (string, bool) {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf || r <= ' ' }) {
		return "", false
	}
	return strings.TrimSuffix(name, ".") + ".", true
}

// records makes one query. A name without records has none. If some of several records are
// malformed, the others count.
func records[T any](ctx context.Context, name string, query func(context.Context, string) ([]T, error)) ([]T, error) {
	target, ok := absolute(name)
	if !ok {
		return nil, nil
	}
	answer, err := query(ctx, target)
	var failure *net.DNSError
	switch {
	case err == nil:
		return answer, nil
	case !errors.As(err, &failure):
		return nil, err
	case failure.IsNotFound:
		return nil, nil
	case len(answer) > 0 && !failure.IsTemporary && !failure.IsTimeout:
		return answer, nil
	}
	return nil, err
}

// TXT returns the TXT records of a name.
func (r *Resolver) TXT(ctx context.Context, name string) ([]string, error) {
	return records(ctx, name, r.standard.LookupTXT)
}

// Addresses returns the addresses of a name.
func (r *Resolver) Addresses(ctx context.Context, name string) ([]netip.Addr, error) {
	answer, err := records(ctx, name, r.standard.LookupIPAddr)
	var all []netip.Addr
	for _, a := range answer {
		if ip, ok := netip.AddrFromSlice(a.IP); ok {
			all = append(all, ip.Unmap())
		}
	}
	return all, err
}

// Exchanges returns the names of the mail servers of a name.
func (r *Resolver) Exchanges(ctx context.Context, name string) ([]string, error) {
	answer, err := records(ctx, name, r.standard.LookupMX)
	var all []string
	for _, mx := range answer {
		all = append(all, strings.TrimSuffix(mx.Host, "."))
	}
	return all, err
}

// Names returns the reverse names of an address.
func (r *Resolver) Names(ctx context.Context, ip netip.Addr) ([]string, error) {
	answer, err := records(ctx, ip.String(), func(ctx context.Context, _ string) ([]string, error) { return r.standard.LookupAddr(ctx, ip.String()) })
	var all []string
	for _, name := range answer { // a memory of answers keeps the slice
		all = append(all, strings.TrimSuffix(name, "."))
	}
	return all, err
}

// Exists reports whether a name exists.
func (r *Resolver) Exists(ctx context.Context, name string) (bool, error) {
	target, ok := absolute(name)
	if !ok {
		return false, nil
	}
	return r.existence.Exists(ctx, target)
}

// Alias returns the target of the CNAME record of a name, without a final dot.
func (r *Resolver) Alias(ctx context.Context, name string) (string, error) {
	target, ok := absolute(name)
	if !ok {
		return "", nil
	}
	alias, err := r.existence.Alias(ctx, target)
	return strings.TrimSuffix(alias, "."), err
}
