package receiving

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// Kept is how long the log, the content and the objects of a message are kept.
const Kept = 30 * 24 * time.Hour

// maxSubject is how much of a subject is kept in the log, in characters. A line of a header has
// at most 998 octets (RFC 5322 section 2.1.1).
const maxSubject = 998

// Destination takes mail to receiving domains. It is an [inbound.Destination] for routes of the
// kinds ToDomain and ToDeletedDomain.
type Destination struct {
	store DeliveryStore
	clock core.Clock
	wake  func()
}

var _ inbound.Destination = (*Destination)(nil)

// NewDestination returns a Destination. wake lets the courier of this process look at once; nil
// leaves that to the couriers, which look every second.
func NewDestination(store DeliveryStore, clock core.Clock, wake func()) *Destination {
	return &Destination{store, clock, wake}
}

// Deliver logs each message for its recipients at one domain, and creates its delivery. It keeps
// the objects of a message that is delivered, and of one whose domain has no published webhook,
// because a person can have that one delivered later. It reads what is published of each domain
// once, and stores the messages of each organization together.
func (d *Destination) Deliver(ctx context.Context, all []inbound.Delivery) ([]bool, error) {
	domains, err := d.read(ctx, all)
	if err != nil {
		return nil, err
	}
	entries, places := map[string][]LogEntry{}, map[string][]int{} // by organization
	for n, one := range all {
		t := targetOf(one)
		e := newEntry(one.Message, one.Routes, t, d.clock())
		verdict := domains[t].decide(one.Routes, one.Message.Verdicts)
		e.States = append(e.States, verdict.states(d.clock())...)
		e.Message.Outcome = e.States[len(e.States)-1].State
		e.Wanted = verdict.wanted
		if e.Wanted != nil || verdict.parked {
			e.Content, e.ExpiresAt = &all[n].Message, one.Message.ReceivedAt.Add(Kept)
		}
		entries[t.OrgID], places[t.OrgID] = append(entries[t.OrgID], e), append(places[t.OrgID], n)
	}
	kept := make([]bool, len(all))
	for _, org := range slices.Sorted(maps.Keys(entries)) { // in the same order in all processes
		added, err := d.store.Add(ctx, org, entries[org]...)
		if err != nil {
			return nil, err
		}
		for i, n := range places[org] {
			kept[n] = added[i].Kept
		}
	}
	return kept, nil
}

// read returns what is published of the domains of deliveries.
func (d *Destination) read(ctx context.Context, all []inbound.Delivery) (map[Target]published, error) {
	routes := map[Target][]inbound.Route{}
	for _, one := range all {
		routes[targetOf(one)] = append(routes[targetOf(one)], one.Routes...)
	}
	domains := map[Target]published{}
	for t := range routes {
		var err error
		if domains[t], err = readPublished(ctx, d.store, t, routes[t]); err != nil {
			return nil, err
		}
	}
	return domains, nil
}

func targetOf(d inbound.Delivery) Target {
	return Target{OrgID: d.Routes[0].OrgID, DomainID: d.Routes[0].TargetID}
}

// Committed wakes the courier.
func (d *Destination) Committed(context.Context, inbound.Delivery) {
	if d.wake != nil {
		d.wake()
	}
}

// newEntry returns the entry of a message with its first state.
func newEntry(m inbound.Message, routes []inbound.Route, t Target, now time.Time) LogEntry {
	e := LogEntry{Message: Message{
		ID: entryID(t.DomainID, m.ID), MessageID: m.ID, DomainID: t.DomainID, Domain: routes[0].Domain, Sender: withoutNUL(m.Sender),
		Subject: subjectOf(m.Subject), Verdicts: m.Verdicts, Size: m.Size, ReceivedAt: m.ReceivedAt, UpdatedAt: now,
	}}
	for _, r := range routes {
		e.Message.Recipients = append(e.Message.Recipients, withoutNUL(r.Recipient))
	}
	e.States = []State{{State: Received, OccurredAt: m.ReceivedAt}}
	return e
}

// entryID returns the id of the entry of a message in the log of a domain: a UUID whose bits are
// of a hash of both, so that the webhook-id is the same however often a message is processed.
func entryID(domainID, messageID string) string {
	sum := sha256.Sum256([]byte(domainID + "\n" + messageID))
	id := uuid.UUID(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8 (RFC 9562), variant 10
	return id.String()
}

// withoutNUL removes characters that PostgreSQL cannot store.
func withoutNUL(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

func subjectOf(text string) string {
	text = withoutNUL(text)
	if runes := []rune(text); len(runes) > maxSubject {
		return string(runes[:maxSubject])
	}
	return text
}

// decision is what happens to a message at a domain.
type decision struct {
	// outcome is NoRoute, Dropped or UnknownDomain with a reason, "" for a message to deliver.
	outcome Outcome
	reason  string
	// parked is true if a person can have the message delivered later.
	parked bool
	wanted *Wanted
	// others are recipients that are not delivered for, of a message that is delivered.
	others []string
}

// published is what is published of a domain.
type published struct {
	found    bool // false for a domain that was deleted
	document Document
	// entities has the metadata of minted addresses, by local part.
	entities map[string]json.RawMessage
}

// readPublished reads what decides about mail by the routes.
func readPublished(ctx context.Context, store DeliveryStore, t Target, routes []inbound.Route) (p published, err error) {
	if p.document, p.found, err = store.Published(ctx, t); err != nil || !p.document.Routed {
		return p, err
	}
	var locals []string
	for _, r := range routes {
		if p.document.Admits(r.LocalPart) {
			locals = append(locals, r.LocalPart)
		}
	}
	if len(locals) > 0 {
		p.entities, err = store.Entities(ctx, t, locals)
	}
	return p, err
}

// decide decides about a message with the routes.
func (p published) decide(routes []inbound.Route, v inbound.Verdicts) decision {
	switch {
	case !p.found || routes[0].Kind == inbound.ToDeletedDomain:
		return decision{outcome: UnknownDomain, reason: "The receiving domain was deleted."}
	case !p.document.Routed:
		return decision{outcome: UnknownDomain, reason: "The domain has no published webhook.", parked: true}
	}
	out := decision{wanted: &Wanted{Entities: map[string]json.RawMessage{}}}
	for _, r := range routes {
		if !p.document.Admits(r.LocalPart) {
			out.others = append(out.others, withoutNUL(r.Recipient))
			continue
		}
		out.wanted.Recipients = append(out.wanted.Recipients, withoutNUL(r.Recipient))
		if entity, minted := p.entities[r.LocalPart]; minted {
			out.wanted.Entities[r.LocalPart] = entity
		}
	}
	if len(out.wanted.Recipients) == 0 {
		return decision{outcome: NoRoute, reason: "No recipient matches a pattern of the webhook."}
	}
	if reason := p.document.Drops(v); reason != "" {
		return decision{outcome: Dropped, reason: reason}
	}
	return out
}

// states returns the states that follow from the decision.
func (d decision) states(now time.Time) []State {
	switch {
	case d.outcome != "":
		return []State{{State: d.outcome, OccurredAt: now, Detail: d.reason}}
	case len(d.others) > 0:
		return []State{
			{State: NoRoute, OccurredAt: now, Detail: fmt.Sprintf("Not delivered for %s: no pattern of the webhook matches.", core.QuotedList(d.others))},
			{State: Received, OccurredAt: now, Detail: "To be delivered for the other recipients."},
		}
	}
	return nil
}

// entitiesOf returns entities as JSON never has null for them.
func entitiesOf(w Wanted) map[string]json.RawMessage {
	if w.Entities == nil {
		return map[string]json.RawMessage{}
	}
	return w.Entities
}
