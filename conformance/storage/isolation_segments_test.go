package storage_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage"
)

// ownSegments gives the organization a segment with a contact as its member, a queued
// re-evaluation of that contact, and a suppressed address.
func (o *ownedObjects) ownSegments(t *testing.T, db *storage.DB) {
	t.Helper()
	o.segment = segments.Segment{
		ID: core.NewID(), Key: "same", Name: "Same", Source: `attr.email = "same@x"`, ProfileVersion: 1, EvalClass: predicate.Incremental,
		Status: segments.Active, Origin: segments.Managed, CreatedAt: start, UpdatedAt: start,
	}
	must(t, db.Segments().InsertSegment(t.Context(), o.org, o.segment))
	q := o.question(t, db, o.org)
	q.Contacts = []string{o.contact.ID}
	entered, _, err := db.SegmentMembers().JudgeMembers(t.Context(), q, o.segment.ID)
	must(t, err)
	if len(entered) != 1 {
		t.Fatalf("%v entered", entered)
	}
	must(t, db.SegmentChanges().Touch(t.Context(), o.org, []string{o.contact.ID}))
	must(t, db.SegmentChanges().ReplaceSuppressed(t.Context(), o.org, []string{"gone@x"}))
}

// question returns a query whose predicate matches the contact in o. The query searches the
// organization org, but the predicate is compiled with the attributes of the organization
// o.org.
func (o *ownedObjects) question(t *testing.T, db *storage.DB, org string) segments.Question {
	t.Helper()
	schema, err := db.Segments().PredicateSchema(t.Context(), o.org)
	must(t, err)
	checked, err := predicate.Compile(`attr.email = "same@x"`, schema.Schema)
	must(t, err)
	return segments.Question{OrgID: org, Predicate: checked, Slots: schema.Slots, Now: start}
}

// subjects returns a query for all data of the contact in o that predicates read. The query
// searches the organization org.
func (o *ownedObjects) subjects(t *testing.T, db *storage.DB, org string) segments.SubjectQuery {
	t.Helper()
	schema, err := db.Segments().PredicateSchema(t.Context(), o.org)
	must(t, err)
	refs := predicate.References{
		Lists: []string{o.list.ID}, Segments: []string{o.segment.ID},
		Events: []predicate.Event{{Kind: predicate.ActivityEvent, Activity: o.activity.Name}, {Kind: predicate.Send}, {Kind: predicate.Bounce}},
	}
	return segments.SubjectQuery{OrgID: org, Contacts: []string{o.contact.ID}, Schema: schema, Refs: refs, AllAttributes: true}
}

// segmentState returns the organization's segments, their members and log, the queued
// re-evaluations and the suppressed addresses.
func (o ownedObjects) segmentState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	var seen []any
	for _, method := range []string{"Segment", "SegmentMembers", "MembershipLog", "CountMatching", "Subjects", "Touches", "Suppressed by predicate"} {
		found, err := storeCalls(o, o.org)[method](t, db)
		must(t, err)
		seen = append(seen, found)
	}
	return seen
}

func segmentCalls(o ownedObjects, org string) map[string]storeCall {
	stolen := o.segment
	stolen.Name = "stolen"
	return map[string]storeCall{
		"PredicateSchema": func(t *testing.T, db *storage.DB) (any, error) {
			s, err := db.Segments().PredicateSchema(t.Context(), org)
			return len(s.Attributes) + len(s.Properties) + len(s.Topics) + len(s.Lists) + len(s.Segments) + len(s.Slots) + len(s.Activities), err
		},
		"SeenActivities": func(t *testing.T, db *storage.DB) (any, error) { return db.Segments().SeenActivities(t.Context(), org) },
		"LockSegments": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Segments().LockSegments(t.Context(), org)
		},
		"UpdateSegment": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Segments().UpdateSegment(t.Context(), org, stolen)
		},
		"Segment": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Segments().Segment(t.Context(), org, o.segment.ID)
		},
		"Segment by key": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Segments().Segment(t.Context(), org, o.segment.Key)
		},
		"LockSegment": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Segments().LockSegment(t.Context(), org, o.segment.ID)
		},
		"Segments": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Segments().Segments(t.Context(), org, segments.Filter{Limit: 10})
		},
		"CountSegments": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Segments().CountSegments(t.Context(), org, segments.Filter{})
		},
		"AllSegments": func(t *testing.T, db *storage.DB) (any, error) { return db.Segments().AllSegments(t.Context(), org) },
	}
}

// answerCalls returns calls that evaluate predicates and read or change segment members.
// The organization org makes them with the objects of another organization, o.
func answerCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"SegmentMembers": func(t *testing.T, db *storage.DB) (any, error) {
			return db.SegmentMembers().SegmentMembers(t.Context(), org, o.segment.ID, nil, 10)
		},
		"IsSegmentMember": func(t *testing.T, db *storage.DB) (any, error) {
			return db.SegmentMembers().IsSegmentMember(t.Context(), org, o.segment.ID, o.contact.ID)
		},
		"IsSegmentMember by address": func(t *testing.T, db *storage.DB) (any, error) {
			return db.SegmentMembers().IsSegmentMember(t.Context(), org, o.segment.ID, o.contact.Email)
		},
		"CountMatching": func(t *testing.T, db *storage.DB) (any, error) {
			return db.SegmentMembers().CountMatching(t.Context(), o.question(t, db, org))
		},
		"TestResults": func(t *testing.T, db *storage.DB) (any, error) {
			q := o.question(t, db, org)
			q.Contacts = []string{o.contact.ID}
			return db.SegmentMembers().TestResults(t.Context(), q, []predicate.Node{q.Predicate.Root})
		},
		"CountSource": func(t *testing.T, db *storage.DB) (any, error) {
			q := o.question(t, db, org)
			contacts, err := db.SegmentMembers().CountSource(t.Context(), q, nil, 10)
			must(t, err)
			did := &predicate.EventSource{Event: predicate.Event{Kind: predicate.ActivityEvent, Activity: o.activity.Name}}
			events, err := db.SegmentMembers().CountSource(t.Context(), q, did, 10)
			return contacts + events, err
		},
		"Matching": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Subjects().Matching(t.Context(), o.question(t, db, org), "", 10)
		},
		"Subjects": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Subjects().Subjects(t.Context(), o.subjects(t, db, org))
		},
		"Examples": func(t *testing.T, db *storage.DB) (any, error) {
			return db.SegmentMembers().Examples(t.Context(), o.question(t, db, org), 10)
		},
		"DifferingContacts": func(t *testing.T, db *storage.DB) (any, error) {
			return db.SegmentMembers().DifferingContacts(t.Context(), o.question(t, db, org), o.segment.ID, 10)
		},
		"JudgeMembers": func(t *testing.T, db *storage.DB) (any, error) {
			q := o.question(t, db, org)
			q.Contacts = []string{o.contact.ID}
			entered, exited, err := db.SegmentMembers().JudgeMembers(t.Context(), q, o.segment.ID)
			return append(entered, exited...), err
		},
		"SetEvaluatedAt": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.SegmentMembers().SetEvaluatedAt(t.Context(), org, o.segment.ID, later(9))
		},
	}
}

// changeCalls returns calls that note which contacts to evaluate again. The organization org
// makes them with the objects of another organization, o.
func changeCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"segments.ChangeStore.TouchRecipients": func(t *testing.T, db *storage.DB) (any, error) {
			must(t, db.SegmentChanges().TouchRecipients(t.Context(), org, []string{"same@x"}))
			return db.SegmentChanges().Touches(t.Context(), org, 10)
		},
		"Touches": func(t *testing.T, db *storage.DB) (any, error) {
			return db.SegmentChanges().Touches(t.Context(), org, 10)
		},
		"Untouch": func(t *testing.T, db *storage.DB) (any, error) {
			notes, err := db.SegmentChanges().Touches(t.Context(), o.org, 10)
			must(t, err)
			ids := make([]string, len(notes))
			for i, note := range notes {
				ids[i] = note.ID
			}
			return nil, db.SegmentChanges().Untouch(t.Context(), org, ids)
		},
		"ReplaceSuppressed": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.SegmentChanges().ReplaceSuppressed(t.Context(), org, nil)
		},
		"LookUp": func(t *testing.T, db *storage.DB) (any, error) {
			found, details, err := db.Contacts().LookUp(t.Context(), org, contacts.Key{ID: o.contact.ID})
			return []any{found, details}, err
		},
		"AddSuppressed": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.SegmentChanges().AddSuppressed(t.Context(), org, []string{"same@x"})
		},
		"Suppressed by predicate": func(t *testing.T, db *storage.DB) (any, error) {
			q := o.question(t, db, org)
			var err error
			q.Predicate, err = predicate.Compile(`suppressed or attr.email = "same@x"`, predicate.Schema{})
			must(t, err)
			return db.SegmentMembers().CountMatching(t.Context(), q)
		},
	}
}
