package receiving

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
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
// because a person can have that one delivered later.
func (d *Destination) Deliver(ctx context.Context, all []inbound.Delivery) ([]bool, error) {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(all[a].Routes[0].TargetID, all[b].Routes[0].TargetID) })
	kept := make([]bool, len(all))
	for _, i := range order {
		var err error
		if kept[i], err = d.deliver(ctx, all[i].Message, all[i].Routes); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

func (d *Destination) deliver(ctx context.Context, m inbound.Message, routes []inbound.Route) (bool, error) {
	t := Target{OrgID: routes[0].OrgID, DomainID: routes[0].TargetID}
	e := newEntry(m, routes, t, d.clock())
	verdict, err := decide(ctx, d.store, t, routes, m.Verdicts)
	if err != nil {
		return false, err
	}
	e.States = append(e.States, verdict.states(d.clock())...)
	e.Message.Outcome = e.States[len(e.States)-1].State
	e.Wanted = verdict.wanted
	if e.Wanted != nil || verdict.parked {
		e.Content, e.ExpiresAt = &m, m.ReceivedAt.Add(Kept)
	}
	_, kept, err := d.store.Add(ctx, t.OrgID, e)
	return kept, err
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

// decide decides by what is published of a domain.
func decide(ctx context.Context, store DeliveryStore, t Target, routes []inbound.Route, v inbound.Verdicts) (decision, error) {
	document, found, err := store.Published(ctx, t)
	switch {
	case err != nil:
		return decision{}, err
	case !found || routes[0].Kind == inbound.ToDeletedDomain:
		return decision{outcome: UnknownDomain, reason: "The receiving domain was deleted."}, nil
	case !document.Routed:
		return decision{outcome: UnknownDomain, reason: "The domain has no published webhook.", parked: true}, nil
	}
	out := decision{wanted: &Wanted{}}
	var locals []string // of the recipients to deliver for
	for _, r := range routes {
		if document.Admits(r.LocalPart) {
			out.wanted.Recipients = append(out.wanted.Recipients, withoutNUL(r.Recipient))
			locals = append(locals, r.LocalPart)
		} else {
			out.others = append(out.others, withoutNUL(r.Recipient))
		}
	}
	if len(locals) == 0 {
		return decision{outcome: NoRoute, reason: "No recipient matches a pattern of the webhook."}, nil
	}
	if reason := document.Drops(v); reason != "" {
		return decision{outcome: Dropped, reason: reason}, nil
	}
	out.wanted.Entities, err = store.Entities(ctx, t, locals)
	return out, err
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
