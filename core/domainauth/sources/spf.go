package sources

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Resolver queries DNS for Expand. For a name without such records, and for one that does not
// exist, each method returns none and no error. Any error means that it is not known what the
// name has.
type Resolver interface {
	// TXT returns the TXT records of a name, each with its strings joined in order.
	TXT(ctx context.Context, name string) ([]string, error)
	// Addresses returns the IPv4 and IPv6 addresses of a name.
	Addresses(ctx context.Context, name string) ([]netip.Addr, error)
	// Exchanges returns the names of the mail servers (MX) of a name.
	Exchanges(ctx context.Context, name string) ([]string, error)
}

// Qualifier is the result that a mechanism of an SPF record gives (RFC 7208 section 4.6.2).
type Qualifier string

// The qualifiers.
const (
	Pass     Qualifier = "pass"
	Fail     Qualifier = "fail"
	SoftFail Qualifier = "softfail"
	Neutral  Qualifier = "neutral"
)

// Expansion is the SPF record of a domain with the networks that it authorizes.
type Expansion struct {
	// Domain is the name of the record.
	Domain string
	// Networks has the authorized networks in the order of the record. A network can occur
	// more than once.
	Networks []Network
	// All is what the record says about other addresses; Neutral without "all". It is empty
	// without a record.
	All Qualifier
	// Lookups is the number of terms that need a query of DNS, at most 10 of which were
	// followed. Receivers reject a record with more (RFC 7208 section 4.6.4).
	Lookups int
	// Problems has what could not be followed, in the order of the record.
	Problems []Problem
}

// Network is an authorized network.
type Network struct {
	Prefix netip.Prefix
	// Path has the names of the records, from outer to inner, through which the record of the
	// domain includes the network. It is empty for a network in that record itself.
	Path []string
	// Except has the networks within Prefix that an earlier term excludes.
	Except []netip.Prefix
}

// Problem is a part of a record that was not followed. Text is one of fixed words.
type Problem struct {
	// Domain is the name of the record with the problem.
	Domain, Text string
}

// The limits of an expansion. RFC 7208 section 4.6.4 has the first and second.
const (
	maxLookups   = 10
	maxExchanges = 10
	maxRecord    = 8 << 10
	maxNetworks  = 4096
	maxProblems  = 64
	maxExcluded  = 64
)

// Expand reads the SPF record of a domain and follows the records that it includes. The same
// answers give the same result. It fails only if the domain is not a name or if a query
// fails: then the caller keeps the expansion that it has.
func Expand(ctx context.Context, r Resolver, domain string) (Expansion, error) {
	name := normal(domain)
	if name == "" {
		return Expansion{}, fmt.Errorf("sources: %q is not a domain name", domain)
	}
	x := expander{resolver: r, visited: map[string]bool{}}
	x.Domain = name
	all, err := x.record(ctx, name, nil, nil)
	if err != nil {
		return Expansion{}, fmt.Errorf("sources: expand the SPF record of %s: %w", name, err)
	}
	x.All = all
	return x.Expansion, nil
}

type expander struct {
	Expansion
	resolver Resolver
	visited  map[string]bool
}

func (x *expander) problem(domain, text string) {
	if p := (Problem{domain, text}); len(x.Problems) < maxProblems && !slices.Contains(x.Problems, p) {
		x.Problems = append(x.Problems, p)
	}
}

// lookup counts a term that needs a query, and reports whether it may be followed.
func (x *expander) lookup(domain string) bool {
	x.Lookups++
	if x.Lookups > maxLookups {
		x.problem(domain, "the record needs more than 10 lookups")
		return false
	}
	return true
}

// record adds the networks of one record. excluded has the networks for which the evaluation
// ended before. It returns the qualifier of "all", or "" without a record.
func (x *expander) record(ctx context.Context, name string, path []string, excluded []netip.Prefix) (Qualifier, error) {
	if x.visited[name] {
		if slices.Contains(path[:max(0, len(path)-1)], name) || name == x.Domain {
			x.problem(name, "the record includes itself")
		}
		return "", nil
	}
	x.visited[name] = true
	text, err := x.text(ctx, name)
	if err != nil || text == "" {
		return "", err
	}
	excluded = slices.Clip(excluded)
	var redirect string
	for _, field := range strings.Fields(text)[1:] {
		t, ok := parseTerm(field)
		switch {
		case !ok:
			x.problem(name, "a term of the record is not valid")
		case t.name == "redirect":
			redirect = t.value
		case t.name == "all":
			if t.qualifier == Pass {
				x.problem(name, "the record authorizes every address")
			}
			return t.qualifier, nil
		case t.modifier:
		default:
			if excluded, err = x.mechanism(ctx, name, t, path, excluded); err != nil {
				return "", err
			}
		}
	}
	if redirect == "" {
		return Neutral, nil
	}
	next, ok := x.target(name, redirect)
	if !ok || !x.lookup(name) {
		return Neutral, nil
	}
	all, err := x.record(ctx, next, append(slices.Clip(path), next), excluded)
	return cmp.Or(all, Neutral), err
}

// text returns the SPF record of a name, or "" if it has no usable one.
func (x *expander) text(ctx context.Context, name string) (string, error) {
	records, err := x.resolver.TXT(ctx, name)
	if err != nil {
		return "", err
	}
	var found string
	for _, record := range records {
		switch version, _, _ := strings.Cut(record, " "); {
		case !strings.EqualFold(version, "v=spf1"):
		case found != "":
			x.problem(name, "the name has several records")
			return "", nil
		case len(record) > maxRecord:
			x.problem(name, "the record is too long")
			return "", nil
		default:
			found = record
		}
	}
	if found == "" {
		x.problem(name, "the name has no record")
	}
	return found, nil
}

// target returns the domain that a term names.
func (x *expander) target(name, value string) (string, bool) {
	if strings.ContainsRune(value, '%') {
		x.problem(name, "a term depends on the message")
		return "", false
	}
	target := normal(value)
	if target == "" {
		x.problem(name, "a term of the record is not valid")
	}
	return target, target != ""
}

// mechanism adds the networks of a mechanism, or returns excluded with them if they do not
// pass.
func (x *expander) mechanism(ctx context.Context, name string, t term, path []string, excluded []netip.Prefix) ([]netip.Prefix, error) {
	if t.name == "ip4" || t.name == "ip6" {
		return x.networks(t, []netip.Prefix{t.prefix}, name, path, excluded), nil
	}
	mayFollow := x.lookup(name)
	if t.name == "exists" || t.name == "ptr" {
		x.problem(name, "a term depends on the message")
		return excluded, nil
	}
	target := name
	if t.value != "" {
		var ok bool
		if target, ok = x.target(name, t.value); !ok {
			return excluded, nil
		}
	}
	if !mayFollow {
		return excluded, nil
	}
	if t.name == "include" {
		if t.qualifier != Pass {
			x.problem(name, "an include does not authorize")
			return excluded, nil
		}
		_, err := x.record(ctx, target, append(slices.Clip(path), target), excluded)
		return excluded, err
	}
	hosts := []string{target}
	if t.name == "mx" {
		var err error
		if hosts, err = x.exchanges(ctx, name, target); err != nil {
			return excluded, err
		}
	}
	var prefixes []netip.Prefix
	for _, server := range hosts {
		addresses, err := x.resolver.Addresses(ctx, server)
		if err != nil {
			return excluded, err
		}
		for _, ip := range addresses {
			if prefix, ok := t.around(canonical(ip)); ok {
				prefixes = append(prefixes, prefix)
			}
		}
	}
	slices.SortFunc(prefixes, comparePrefixes)
	return x.networks(t, slices.Compact(prefixes), name, path, excluded), nil
}

// exchanges returns the mail servers of a name, in the order of the alphabet.
func (x *expander) exchanges(ctx context.Context, name, target string) ([]string, error) {
	answer, err := x.resolver.Exchanges(ctx, target)
	if err != nil {
		return nil, err
	}
	var hosts []string
	for _, server := range answer {
		if server = normal(server); server != "" {
			hosts = append(hosts, server)
		}
	}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	if len(hosts) > maxExchanges {
		x.problem(name, "a name has more than 10 mail servers")
		hosts = hosts[:maxExchanges]
	}
	return hosts, nil
}

// networks adds networks that pass, and returns excluded with those that do not.
func (x *expander) networks(t term, prefixes []netip.Prefix, name string, path []string, excluded []netip.Prefix) []netip.Prefix {
	for _, prefix := range prefixes {
		if slices.ContainsFunc(excluded, func(e netip.Prefix) bool { return encloses(e, prefix) }) {
			continue
		}
		if len(x.Networks) >= maxNetworks || len(excluded) >= maxExcluded {
			x.problem(name, "the record has too many networks")
			break
		}
		if t.qualifier != Pass {
			excluded = append(excluded, prefix)
			continue
		}
		n := Network{Prefix: prefix, Path: path}
		for _, e := range excluded {
			if encloses(prefix, e) {
				n.Except = append(n.Except, e)
			}
		}
		x.Networks = append(x.Networks, n)
	}
	return excluded
}

// encloses reports whether a network contains another one.
func encloses(outer, inner netip.Prefix) bool {
	return outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}

func comparePrefixes(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
}
