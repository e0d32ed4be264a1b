package lookup

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Resolver asks DNS. Names are in the form of dmarc.Name and absolute. For a name without such
// records, and for one that does not exist, each method returns none and no error. Any error
// means that it is not known what the name has.
type Resolver interface {
	// TXT returns the TXT records of a name, each with its strings joined in order.
	TXT(ctx context.Context, name string) ([]string, error)
	// Exists reports whether a name exists.
	Exists(ctx context.Context, name string) (bool, error)
	// Addresses returns all IPv4 and IPv6 addresses of a name.
	Addresses(ctx context.Context, name string) ([]netip.Addr, error)
	// Exchanges returns the names of the mail servers of a name.
	Exchanges(ctx context.Context, name string) ([]string, error)
	// Alias returns the target of the CNAME record of a name, without a final dot.
	Alias(ctx context.Context, name string) (string, error)
	// Names returns the reverse names of an address.
	Names(ctx context.Context, ip netip.Addr) ([]string, error)
}

// Domain is a domain to ask about.
type Domain struct {
	// Name is the domain in the form of dmarc.Name.
	Name string
	// Keys has the names of the DKIM keys with which the sending account signs mail of the
	// domain: a selector, "._domainkey." and a domain.
	Keys []string
}

// The limits of one look. A record at its limits (ten SPF terms of ten hosts, ten destinations)
// needs fewer queries.
const (
	maxTime    = time.Minute
	maxQueries = 400
	maxKeys    = 10
)

// Limits of what is kept in octets: of one record, and roughly of an expanded SPF record.
const (
	maxText      = 8 << 10
	maxExpansion = 256 << 10
)

// Look asks DNS about a domain, with at most 400 queries in at most a minute. previous is the
// last snapshot of the domain, or the zero one. Where a query fails, also because ctx ended,
// the result has what previous has.
func Look(ctx context.Context, r Resolver, d Domain, previous Snapshot, now time.Time) Snapshot {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	l := &look{resolver: newOnce(r), domain: d, previous: previous, now: now}
	l.next = Snapshot{
		LookedAt: now, At: previous.At, Discovery: previous.Discovery, Destinations: previous.Destinations, DestinationsAt: previous.DestinationsAt,
		SPF: previous.SPF, SPFAt: previous.SPFAt, Records: []Record{}, Selectors: []string{},
	}
	l.discover(ctx)
	l.policyRecords(ctx)
	l.destinations(ctx)
	l.spf(ctx)
	l.keys(ctx)
	return l.next
}

// look is one look at the DNS of a domain.
type look struct {
	resolver       *once
	domain         Domain
	now            time.Time
	previous, next Snapshot
}

func (l *look) discover(ctx context.Context) {
	found, err := dmarc.Discover(ctx, l.resolver, l.domain.Name)
	if err != nil {
		return
	}
	l.next.At, l.next.Discovery = l.now, found
	l.next.Discovery.Record.Text = storable(found.Record.Text)
}

// policyRecords adds the DMARC record of the domain, and of the domain from which it inherits
// one.
func (l *look) policyRecords(ctx context.Context) {
	l.addPolicy(ctx, l.domain.Name)
	if from := l.next.Discovery.Domain; from != "" && from != l.domain.Name {
		l.addPolicy(ctx, from)
	}
}

func (l *look) addPolicy(ctx context.Context, domain string) {
	name := "_dmarc." + domain
	if _, ok := dmarc.Name(name); !ok { // longer than DNS allows
		return
	}
	texts, err := l.resolver.TXT(ctx, name)
	texts = slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
		_, err := dmarc.Parse(text)
		return err != nil
	})
	l.add(Record{Name: name, Kind: timeline.PolicyChange, Type: TXT}, texts, err)
}

// add adds a record with the texts of a name of which one counts, or the previous record if the
// query failed.
func (l *look) add(r Record, texts []string, err error) {
	if err != nil {
		for _, known := range l.previous.Records {
			if known.Name == r.Name && known.Kind == r.Kind {
				known.Fresh = false
				l.next.Records = append(l.next.Records, known)
			}
		}
		return
	}
	r.Fresh, r.Several = true, len(texts) > 1
	if len(texts) == 1 {
		text := storable(texts[0])
		r.Text = &text
	}
	l.next.Records = append(l.next.Records, r)
}

// destinations asks where reports go. The consent of a destination that DNS does not answer
// about stays, if the record still names it.
func (l *look) destinations(ctx context.Context) {
	found, err := dmarc.Destinations(ctx, l.resolver, l.next.Discovery)
	if err == nil && l.next.At.Equal(l.now) {
		l.next.DestinationsAt = l.now
	}
	for i, d := range found {
		if d.Consent != "" {
			continue
		}
		for _, known := range l.previous.Destinations {
			if known.URI == d.URI && l.previous.Discovery.Domain == l.next.Discovery.Domain {
				found[i] = known
			}
		}
	}
	l.next.Destinations = found
}

func (l *look) spf(ctx context.Context) {
	texts, err := l.resolver.TXT(ctx, l.domain.Name)
	texts = slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
		version, _, _ := strings.Cut(text, " ")
		return !strings.EqualFold(version, "v=spf1")
	})
	l.add(Record{Name: l.domain.Name, Kind: timeline.SetupChange, Type: TXT}, texts, err)
	expansion, err := sources.Expand(ctx, l.resolver, l.domain.Name)
	if err != nil {
		return
	}
	l.next.SPF, l.next.SPFAt = bounded(expansion), l.now
}

// keys adds the DKIM keys: the alias that the sending account asks for, or else a key that the
// owner published as text.
func (l *look) keys(ctx context.Context) {
	for _, name := range l.domain.Keys[:min(len(l.domain.Keys), maxKeys)] {
		if selector, _, ok := strings.Cut(name, "._domainkey."); ok && selector != "" {
			l.next.Selectors = append(l.next.Selectors, selector)
		}
		record := Record{Name: name, Kind: timeline.SetupChange, Type: CNAME}
		target, err := l.resolver.Alias(ctx, name)
		if target != "" || err != nil {
			l.add(record, []string{target}, err)
			continue
		}
		texts, err := l.resolver.TXT(ctx, name)
		if len(texts) > 0 {
			record.Type = TXT
		}
		l.add(record, texts, err)
	}
}

// storable returns a text that databases can store, without octets that are not UTF-8 and
// without NUL, and shortened to maxText.
func storable(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), maxText)], "\x00", "\uFFFD"), "\uFFFD")
	return strings.Clone(text)
}

// bounded returns an expansion without the last networks if it has too many to be stored with
// each poll.
func bounded(e sources.Expansion) sources.Expansion {
	var octets int
	for i, n := range e.Networks {
		octets += 80 + 50*len(n.Except)
		for _, name := range n.Path {
			octets += len(name) + 3
		}
		if octets > maxExpansion {
			e.Networks = slices.Clip(e.Networks[:i])
			e.Problems = append(slices.Clip(e.Problems), sources.Problem{Domain: e.Domain, Text: "the record has too many networks"})
			break
		}
	}
	return e
}
