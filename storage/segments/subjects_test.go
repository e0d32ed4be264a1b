package segments_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicate/predicatetest"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"pgregory.net/rapid"
)

// compareRead checks that predicates have the same results for the contacts as SubjectStore
// reads them and as they were drawn. It reads the contacts once for all predicates.
func (a *storedAudience) compareRead(t *rapid.T, db *storage.DB, subjects []predicate.Subject, predicates ...*predicate.Checked) {
	t.Helper()
	references := make([]predicate.References, len(predicates))
	for i, p := range predicates {
		references[i] = p.References()
	}
	q := a.query(predicate.Union(references...))
	q.Contacts = append(q.Contacts, core.NewID(), a.ids[0]) // one is missing and one occurs twice
	read, err := db.Subjects().Subjects(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(read) != len(a.ids) {
		t.Fatalf("read %d of %d contacts", len(read), len(a.ids))
	}
	for _, p := range predicates {
		for i, s := range subjects {
			if got, want := p.Match(read[a.ids[i]], predicatetest.Now), p.Match(s, predicatetest.Now); got != want {
				t.Fatalf("%s\nslots %v\nas read %s\nas drawn %s\nread %+v\ndrawn %+v", p, a.slots, got, want, read[a.ids[i]], s)
			}
		}
	}
}

// query returns a query for all contacts.
func (a *storedAudience) query(refs predicate.References) segments.SubjectQuery {
	return segments.SubjectQuery{
		OrgID: a.orgID, Contacts: slices.Clone(a.ids), Schema: segments.Schema{Schema: a.schema, Slots: a.slots}, Refs: refs,
	}
}

// event returns a message event or, if activity is not "", an activity.
func event(kind predicate.EventKind, activity string, at time.Time, properties map[string]predicate.Value) predicate.Occurrence {
	return predicate.Occurrence{Event: predicate.Event{Kind: kind, Activity: activity}, At: at.UnixMicro(), Properties: properties}
}

// anna is a contact with data of each kind, and annasSchema has the names of this data.
var (
	annasSchema = predicate.Schema{
		Attributes: map[string]predicate.AttributeType{
			"plan": {Type: predicate.Enum}, "mrr": {Type: predicate.Number}, "vip": {Type: predicate.Bool}, "joined": {Type: predicate.Datetime},
			"timezone": {Type: predicate.String}, "former": {Type: predicate.Number},
		},
		Properties: map[predicate.ActivityProperty]predicate.Type{
			{Activity: "purchase", Property: "amount"}: predicate.Number, {Activity: "purchase", Property: "sku"}: predicate.String,
			{Activity: "site_visit", Property: "scroll"}: predicate.Number,
		},
		Topics: map[string]bool{"news": true, "offers": false},
		Lists:  predicatetest.Lists, Segments: predicatetest.Segments,
	}
	text  = predicate.StringValue
	texts = func(name, value string) map[string]predicate.Value {
		return map[string]predicate.Value{name: text(value)}
	}
	anna = predicate.Subject{
		Email: "anna@example.com",
		Attributes: map[string]predicate.Value{
			"plan": text("pro"), "mrr": predicate.NumberValue(1.5), "vip": predicate.BoolValue(true), "joined": predicatetest.TimeValue(predicatetest.Now),
			"timezone": text("Europe/Berlin"), "former": text("5"), "unregistered": text("x"),
		},
		Topics:              map[string]bool{"news": false, "offers": true},
		UnsubscribedFromAll: true, Stub: true, Suppressed: true,
		Lists:    map[string]bool{predicatetest.Lists["vip"]: true, predicatetest.Lists["beta users"]: true},
		Segments: map[string]bool{predicatetest.Segments["engaged"]: true},
		Events: []predicate.Occurrence{
			event(predicate.Click, "", predicatetest.Now, map[string]predicate.Value{"url": text("https://a.example"), "subject": text("Hello"), "template": text("t")}),
			event(predicate.Bounce, "", predicatetest.Now, map[string]predicate.Value{"type": text("Permanent"), "sub_type": text("General")}),
			event(predicate.Delivery, "", predicatetest.Now, map[string]predicate.Value{"processing_ms": predicate.NumberValue(12)}),
			event(predicate.Open, "", predicatetest.Now, texts("sender_domain", "a.example")),
			event(predicate.ActivityEvent, "purchase", predicatetest.Now, map[string]predicate.Value{"amount": predicate.NumberValue(2), "sku": text("s")}),
			event(predicate.ActivityEvent, "purchase", predicatetest.Now.Add(-time.Microsecond), map[string]predicate.Value{"amount": text("a former type")}),
			event(predicate.ActivityEvent, "site_visit", predicatetest.Now, map[string]predicate.Value{"path": text("/"), "scroll": predicate.NumberValue(1)}),
		},
	}
)

func sortEvents(s predicate.Subject) []predicate.Occurrence {
	return slices.SortedFunc(slices.Values(s.Events), func(a, b predicate.Occurrence) int {
		return strings.Compare(fmt.Sprint(a.Event, a.At), fmt.Sprint(b.Event, b.At))
	})
}

// subjectCase is a query for anna and the contact that it returns.
type subjectCase struct {
	refs  predicate.References
	all   bool
	since time.Time
	want  predicate.Subject
}

// annasEvents has the kinds of events that anna has.
func annasEvents() []predicate.Event {
	var kinds []predicate.Event
	for _, o := range anna.Events {
		if !slices.Contains(kinds, o.Event) {
			kinds = append(kinds, o.Event)
		}
	}
	return kinds
}

// subjectCases returns queries for anna by their names.
func subjectCases() map[string]subjectCase {
	now, number := predicatetest.Now, predicate.NumberValue
	purchase, visit := predicate.Event{Kind: predicate.ActivityEvent, Activity: "purchase"}, predicate.Event{Kind: predicate.ActivityEvent, Activity: "site_visit"}
	attributes := maps.Clone(anna.Attributes)
	delete(attributes, "former") // it is of another type
	delete(attributes, "unregistered")
	// with returns a contact with anna's consent, and without her other data.
	with := func(attributes map[string]predicate.Value, events ...predicate.Occurrence) predicate.Subject {
		s := anna
		s.Attributes, s.Lists, s.Segments, s.Events = attributes, nil, nil, events
		return s
	}
	everything := anna
	everything.Attributes = attributes
	everything.Events = slices.Clone(anna.Events)
	everything.Events[5].Properties = nil // its only property is of another type
	listed := with(nil)
	listed.Lists = map[string]bool{predicatetest.Lists["vip"]: true}
	purchases := []predicate.Occurrence{
		event(predicate.ActivityEvent, "purchase", now, map[string]predicate.Value{"amount": number(2)}),
		event(predicate.ActivityEvent, "purchase", now.Add(-time.Microsecond), nil),
	}
	amounts := predicate.References{
		Attributes: []string{"former", "plan"}, Events: []predicate.Event{purchase}, Properties: []predicate.ActivityProperty{{Activity: "purchase", Property: "amount"}},
	}
	all := predicate.References{
		Lists: slices.Collect(maps.Values(predicatetest.Lists)), Segments: slices.Collect(maps.Values(predicatetest.Segments)),
		Events: annasEvents(), Properties: slices.Collect(maps.Keys(annasSchema.Properties)),
	}
	return map[string]subjectCase{
		"nothing":                     {want: with(nil)},
		"all attributes":              {all: true, want: with(attributes)},
		"one list":                    {refs: predicate.References{Lists: []string{predicatetest.Lists["vip"]}}, want: listed},
		"an attribute and activities": {refs: amounts, want: with(texts("plan", "pro"), purchases...)},
		"activities since":            {refs: amounts, since: now, want: with(texts("plan", "pro"), purchases[0])},
		"events after the last":       {refs: predicate.References{Events: annasEvents()}, since: now.Add(time.Microsecond), want: with(nil)},
		"built-in properties": {
			refs: predicate.References{Events: []predicate.Event{visit}}, want: with(nil, event(predicate.ActivityEvent, "site_visit", now, texts("path", "/"))),
		},
		"everything": {refs: all, all: true, want: everything},
	}
}

// TestSubjectsHaveWhatTheQueryNames checks each field of a contact that is read: that it has
// the stored data that the query names, with the registered types, and no other data.
func TestSubjectsHaveWhatTheQueryNames(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for _, slots := range []map[string]string{nil, {"plan": "s1", "mrr": "n1", "vip": "n2", "joined": "t1", "timezone": "s2"}} {
			stored := storedAudience{orgID: core.NewID(), schema: annasSchema, slots: slots}
			if err := stored.write(t.Context(), db, []predicate.Subject{anna}); err != nil {
				t.Fatal(err)
			}
			for name, c := range subjectCases() {
				q := stored.query(c.refs)
				q.AllAttributes, q.Since = c.all, c.since
				read, err := db.Subjects().Subjects(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				got := read[stored.ids[0]]
				got.Events, c.want.Events = sortEvents(got), sortEvents(c.want)
				if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s, slots %v (-want +got):\n%s", name, slots, diff)
				}
			}
		}
	})
}

// TestSubjectsAreReadByContact checks the PostgreSQL plans of the statements that read events
// and memberships, for filled tables without statistics. They must use the indexes by
// contact.
func TestSubjectsAreReadByContact(t *testing.T) {
	t.Parallel()
	db := storagetest.Postgres(t)
	err := writeRows(t.Context(), db, func(w *rowWriter) {
		w.exec(`INSERT INTO activities (org_id, occurred_at, id, contact_id, name, properties, source, received_at)
			SELECT 'org', n, n, n, 'purchase', '{}', 'api', 1 FROM generate_series(1, 5000) AS n`)
		w.exec(`INSERT INTO contacts (org_id, id, email, email_key, status, attributes, topic_preferences, unsubscribe_all, created_at, updated_at)
			SELECT 'org', n, n, n, 'active', '{}', '{}', FALSE, n, n FROM generate_series(1, 5000) AS n`)
		w.exec(`INSERT INTO lists (org_id, id, key, name, description, search, source, origin, source_path, status, created_at, updated_at)
			VALUES ('org', 'a', 'a', '', '', '', '', '', '', 'active', 1, 1)`)
		w.exec(`INSERT INTO list_members (org_id, list_id, contact_id, added_at) SELECT 'org', 'a', n, n FROM generate_series(1, 5000) AS n`)
	})
	if err != nil {
		t.Fatal(err)
	}
	numbered := regexp.MustCompile(`\$\d`)
	for name, index := range map[string]string{
		"activities of subjects": "activities_of_contact", "message events of subjects": "message_events_of_recipient",
		"lists of subjects": "list_members_by_contact", "segments of subjects": "segment_members_by_contact", "topics of subjects": "contact_topics_pkey",
	} {
		at := slices.IndexFunc(engine.Statements(), func(s *engine.Statement) bool { return s.Name() == name })
		if at < 0 {
			t.Errorf("there is no statement %q", name)
			continue
		}
		text := strings.NewReplacer(`>= $3`, `>= 1`, `>= $4`, `>= 1`).Replace(db.Dialect().Text(engine.Statements()[at].Text()))
		text = numbered.ReplaceAllString(strings.ReplaceAll(text, `_id = $2`, `_id = 'org'`), `'["a"]'`)
		if plan := storagetest.PostgresPlan(t, db.Reader(), text); !strings.Contains(plan, " using "+index+" ") {
			t.Errorf("%s:\n%s", name, plan)
		}
	}
}

// TestSubjectsOfInactiveContacts checks that archived contacts and contacts of other
// organizations are absent.
func TestSubjectsOfInactiveContacts(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		stored := storedAudience{orgID: core.NewID()}
		if err := stored.write(t.Context(), db, []predicate.Subject{{Email: "a@example.com"}, {Email: "b@example.com"}}); err != nil {
			t.Fatal(err)
		}
		err := writeRows(t.Context(), db, func(w *rowWriter) {
			w.exec(`UPDATE contacts SET status = 'archived' WHERE org_id = $1 AND id = $2`, stored.orgID, stored.ids[0])
			w.exec(`DELETE FROM contact_slots WHERE org_id = $1 AND contact_id = $2`, stored.orgID, stored.ids[0])
		})
		if err != nil {
			t.Fatal(err)
		}
		q := stored.query(predicate.References{})
		for orgID, want := range map[string][]string{stored.orgID: stored.ids[1:], core.NewID(): nil} {
			q.OrgID = orgID
			read, err := db.Subjects().Subjects(t.Context(), q)
			if got := slices.Collect(maps.Keys(read)); err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, %v, want %v", got, err, want)
			}
		}
		q.OrgID, q.Contacts = stored.orgID, nil
		if read, err := db.Subjects().Subjects(t.Context(), q); err != nil || len(read) != 0 {
			t.Errorf("%v, %v for no contacts", read, err)
		}
	})
}

// TestMatchingPages checks that pages of matching contacts have each contact once, in the
// order of the ids.
func TestMatchingPages(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		const contacts = 7
		var subjects []predicate.Subject
		for i := range contacts {
			subjects = append(subjects, predicate.Subject{Email: fmt.Sprintf("%d@example.com", i), UnsubscribedFromAll: i == 3, Events: anna.Events[3:4]})
		}
		stored := storedAudience{orgID: core.NewID()}
		if err := stored.write(t.Context(), db, subjects); err != nil {
			t.Fatal(err)
		}
		for _, source := range []string{`not unsubscribed from all`, `count(open) = 1 and not unsubscribed from all`, `count(open) = 1 and not unsubscribed from all or suppressed`} {
			checked, err := predicate.Compile(source, predicate.Schema{})
			if err != nil {
				t.Fatal(err)
			}
			sorted := slices.Sorted(slices.Values(stored.ids))
			for _, given := range [][]string{nil, stored.ids[2:6]} {
				q := segments.Question{OrgID: stored.orgID, Predicate: checked, Now: predicatetest.Now, Contacts: given}
				want := slices.DeleteFunc(slices.Clone(sorted), func(id string) bool {
					return id == stored.ids[3] || given != nil && !slices.Contains(given, id)
				})
				if all, err := db.Subjects().Matching(t.Context(), q, "", 0); err != nil || !slices.Equal(all, want) {
					t.Errorf("%s: all are %v, %v, want %v", source, all, err, want)
				}
				var paged []string
				for after := ""; ; after = paged[len(paged)-1] {
					page, err := db.Subjects().Matching(t.Context(), q, after, 2)
					if err != nil || len(page) > 2 {
						t.Fatalf("%s: page %v, %v", source, page, err)
					}
					if paged = append(paged, page...); len(page) < 2 {
						break
					}
				}
				if !slices.Equal(paged, want) {
					t.Errorf("%s: pages have %v, want %v", source, paged, want)
				}
			}
		}
	})
}
