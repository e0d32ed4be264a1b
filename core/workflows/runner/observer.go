package runner

import (
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows"
)

// Observer notes the triggers that happen and the contacts that change. Its methods take part in
// the transaction of the change. They only add rows, and none if no workflow of the organization
// is concerned.
type Observer struct {
	Entries workflows.EntryStore
	Changes workflows.ChangeStore
}

// ObserveChange notes that contacts were written, or that their lists or activities changed.
func (o Observer) ObserveChange(ctx context.Context, orgID string, contactIDs []string) error {
	return o.Changes.Touch(ctx, orgID, contactIDs)
}

// ObserveEvents notes events of mail. It is a [messages.Recorder].
func (o Observer) ObserveEvents(ctx context.Context, orgID string, events []messages.Event) error {
	bySource := map[string][]workflows.Entry{}
	var keys []string
	for _, e := range events {
		source, known := eventNames[e.Type]
		if !known || e.Mail.Test {
			continue
		}
		key := core.EmailKey(e.Recipient)
		keys = append(keys, key)
		bySource[source] = append(bySource[source], workflows.Entry{ContactID: key, Cause: workflows.EventTriggered, OccurredAt: e.OccurredAt})
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	if err := o.Changes.TouchRecipients(ctx, orgID, slices.Compact(keys)); err != nil {
		return err
	}
	for source, entries := range bySource {
		if err := o.Entries.NoteRecipients(ctx, orgID, source, entries); err != nil {
			return err
		}
	}
	return nil
}

// ObserveActivities notes new activities.
func (o Observer) ObserveActivities(ctx context.Context, orgID string, recorded []activities.Activity) error {
	byName := map[string][]workflows.Entry{}
	for _, a := range recorded {
		byName[a.Name] = append(byName[a.Name], workflows.Entry{ContactID: a.ContactID, Cause: workflows.ActivityTriggered, OccurredAt: a.OccurredAt})
	}
	for name, entries := range byName {
		if err := o.Entries.Note(ctx, orgID, workflows.OnActivity, name, entries); err != nil {
			return err
		}
	}
	return nil
}

// ObserveMembers notes the contacts that came into a segment and those that left it.
func (o Observer) ObserveMembers(ctx context.Context, orgID, segmentID string, entered, left []string, at time.Time) error {
	if err := o.Changes.Touch(ctx, orgID, append(slices.Clone(entered), left...)); err != nil || len(entered) == 0 {
		return err
	}
	entries := make([]workflows.Entry, len(entered))
	for i, id := range entered {
		entries[i] = workflows.Entry{ContactID: id, Cause: workflows.SegmentEntered, OccurredAt: at}
	}
	return o.Entries.Note(ctx, orgID, workflows.OnSegment, segmentID, entries)
}

// eventNames has the names of events in triggers by their stored types.
var eventNames = map[messages.EventType]string{
	messages.Send: name(predicate.Send), messages.Delivery: name(predicate.Delivery), messages.Open: name(predicate.Open), messages.Click: name(predicate.Click),
	messages.Bounce: name(predicate.Bounce), messages.Complaint: name(predicate.Complaint), messages.Reject: name(predicate.Reject),
	messages.DeliveryDelay: name(predicate.DeliveryDelay),
}

func name(kind predicate.EventKind) string { return predicate.Event{Kind: kind}.String() }
