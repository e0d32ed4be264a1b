package inboxes

import (
	"context"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core/inbound"
)

// Destination stores received messages in inboxes. It is the [inbound.Destination] of
// [inbound.ToInbox].
type Destination struct{ *Reader }

var _ inbound.Destination = Destination{}

// Destination returns the destination of mail to inboxes.
func (x *Inboxes) Destination() Destination { return Destination{x.Reader} }

// Deliver stores messages in the inboxes of their routes. It drops and counts a message with
// malware, of a sender that is not allowed, and for an inbox that has ended or is full.
func (d Destination) Deliver(ctx context.Context, all []inbound.Delivery) ([]bool, error) {
	b := batch{inboxes: map[Target]*Inbox{}, has: map[Reference]bool{}, counts: map[Target]*Count{}}
	if err := d.read(ctx, &b, all); err != nil {
		return nil, err
	}
	now := d.Clock()
	for n, one := range all {
		if i := b.inboxes[targetOf(one)]; i != nil {
			b.add(n, i, one, i.StatusAt(now) == Active)
		} // a row is deleted 30 days after the end of its inbox
	}
	kept := make([]bool, len(all))
	if len(b.arrivals) > 0 {
		added, err := d.Deliveries.AddReceived(ctx, b.arrivals)
		if err != nil {
			return nil, err
		}
		for at, ok := range added {
			if ok {
				kept[b.places[at]] = true
				c := b.count(b.arrivals[at].Target)
				c.Accepted++
				c.Bytes += b.arrivals[at].Message.Size
			}
		}
	}
	if len(b.counts) == 0 {
		return kept, nil
	}
	counts := make([]Count, 0, len(b.counts))
	for _, c := range b.counts {
		counts = append(counts, *c)
	}
	return kept, d.Deliveries.CountReceived(ctx, counts)
}

// read locks the inboxes of deliveries, and reads which messages they have already. A message that
// is alone in its inbox need not be looked up: no position depends on whether it is added.
func (d Destination) read(ctx context.Context, b *batch, all []inbound.Delivery) error {
	targets := map[Target]bool{}
	refs := make([]Reference, len(all))
	for n, one := range all {
		refs[n] = Reference{targetOf(one), one.Message.ID}
		targets[refs[n].Target] = true
	}
	held, err := d.Deliveries.HoldInboxes(ctx, slices.Collect(maps.Keys(targets)))
	if err != nil {
		return err
	}
	for n := range held {
		b.inboxes[Target{held[n].OrgID, held[n].ID}] = &held[n]
	}
	if len(targets) == len(all) {
		return nil
	}
	known, err := d.Deliveries.KnownReceived(ctx, refs)
	for _, ref := range known {
		b.has[ref] = true
	}
	return err
}

func targetOf(d inbound.Delivery) Target { return Target{d.Routes[0].OrgID, d.Routes[0].TargetID} }

// batch decides about the messages of one call of Deliver.
type batch struct {
	// inboxes has the inboxes that exist. Their MessageCount and StoredBytes include the arrivals.
	inboxes map[Target]*Inbox
	// has has the messages that were stored before, and the arrivals.
	has      map[Reference]bool
	arrivals []Arrival
	// places has the position of each arrival in the call.
	places []int
	counts map[Target]*Count
}

// add adds the n-th message of the call to the arrivals, unless it is dropped, or the inbox has
// the message with other objects.
func (b *batch) add(n int, i *Inbox, d inbound.Delivery, active bool) {
	to := targetOf(d)
	if !active || i.isFullFor(d.Message) || d.Message.Verdicts.Virus == inbound.Fail || !i.allows(d.Message) {
		b.count(to).Dropped++
		return
	}
	ref := Reference{to, d.Message.ID}
	if b.has[ref] {
		return
	}
	b.has[ref] = true
	i.MessageCount++
	i.StoredBytes += d.Message.Size
	s := Stored{Seq: i.MessageCount, Message: d.Message, Extracted: d.Message.Extracted}
	for _, r := range d.Routes {
		s.Recipients = append(s.Recipients, r.Recipient)
	}
	b.arrivals, b.places = append(b.arrivals, Arrival{to, s}), append(b.places, n)
}

// isFullFor reports whether the inbox has no room for a message.
func (i *Inbox) isFullFor(m inbound.Message) bool {
	return i.MessageCount >= MaxMessages || i.StoredBytes+m.Size > MaxBytes
}

func (b *batch) count(t Target) *Count {
	if b.counts[t] == nil {
		b.counts[t] = &Count{Target: t}
	}
	return b.counts[t]
}

// Committed wakes the polls that wait for the inbox.
func (d Destination) Committed(ctx context.Context, one inbound.Delivery) {
	d.Waiting.Announce(ctx, one.Routes[0].TargetID)
}
