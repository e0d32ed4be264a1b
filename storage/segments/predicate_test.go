package segments_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicate/predicatetest"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage"
	segmentsstore "github.com/mailhelm/mailhelm/storage/segments"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"pgregory.net/rapid"
)

// TestPredicatesMeanTheSameInSQLAndInMemory checks that the SQL of random predicates finds
// the same contacts as their evaluation in memory. The evaluation must have the same results
// for the contacts as drawn and as SubjectStore reads them. Each round draws 20 predicates,
// and joins them into two long ones. The default of 100 rounds gives 2,000 predicates for each
// engine; -rapid.checks=5000 gives 100,000.
func TestPredicatesMeanTheSameInSQLAndInMemory(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		rapid.Check(t, func(t *rapid.T) {
			drawn := predicatetest.Cases(8, 20).Draw(t, "case")
			stored := storedAudience{slots: drawSlots(t, drawn.Schema), schema: drawn.Schema, orgID: core.NewID()}
			if err := stored.write(context.Background(), db, drawn.Subjects); err != nil {
				t.Fatal(err)
			}
			for i, p := range drawn.Predicates {
				q := segments.Question{OrgID: stored.orgID, Predicate: p, Slots: stored.slots, Now: predicatetest.Now}
				if i%2 == 1 { // as for changed contacts
					q.Contacts = stored.ids[:len(stored.ids)/2]
				}
				stored.compare(t, db, drawn.Subjects, q)
			}
			stored.compareRead(t, db, drawn.Subjects, drawn.Predicates...)
			for _, p := range drawn.Predicates[:3] { // without parts that only other predicates need
				stored.compareRead(t, db, drawn.Subjects, p)
			}
			for _, by := range []string{" and ", " or "} {
				if long := joinedPredicates(drawn, by); long != nil {
					stored.compare(t, db, drawn.Subjects, segments.Question{OrgID: stored.orgID, Predicate: long, Slots: stored.slots, Now: predicatetest.Now})
				}
			}
		})
	})
}

// joinedPredicates joins by "and" or "or" all predicates that test no events. Each occurs
// three times, the second time negated. If the result would be too long, it omits
// predicates from the beginning. It returns nil if no predicate is left.
func joinedPredicates(drawn predicatetest.Case, by string) *predicate.Checked {
	var terms []string
	for _, p := range drawn.Predicates {
		if len(p.References().Events) == 0 {
			terms = append(terms, "("+p.String()+")", "not ("+p.String()+")", "("+p.String()+")")
		}
	}
	for ; len(terms) > 0; terms = terms[1:] {
		if long, err := predicate.Compile(strings.Join(terms, by), drawn.Schema); err == nil {
			return long
		}
	}
	return nil
}

// drawSlots assigns columns of contact_slots to a random part of the attributes. The others
// are stored only as JSON.
func drawSlots(t *rapid.T, schema predicate.Schema) map[string]string {
	slots, used := map[string]string{}, map[string]int{}
	for _, name := range slices.Sorted(mapsKeys(schema.Attributes)) {
		if rapid.Bool().Draw(t, "slot") {
			letter := map[predicate.Type]string{
				predicate.String: "s", predicate.Enum: "s", predicate.Number: "n", predicate.Bool: "n", predicate.Datetime: "t",
			}[schema.Attributes[name].Type]
			used[letter]++
			slots[name] = fmt.Sprintf("%s%d", letter, used[letter])
		}
	}
	return slots
}

func mapsKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// storedAudience describes the contacts that one round of the test has stored in the
// database.
type storedAudience struct {
	orgID  string
	schema predicate.Schema
	slots  map[string]string
	ids    []string
}

func (a *storedAudience) compare(t *rapid.T, db *storage.DB, subjects []predicate.Subject, q segments.Question) {
	t.Helper()
	found, err := segmentsstore.Matching(context.Background(), db.DB, q)
	if err != nil {
		t.Fatalf("%s: %v", q.Predicate, err)
	}
	slices.Sort(found)
	var want []string
	for i, s := range subjects {
		judged := q.Contacts == nil || slices.Contains(q.Contacts, a.ids[i])
		if judged && q.Predicate.Match(s, q.Now) == predicate.True {
			want = append(want, a.ids[i])
		}
	}
	slices.Sort(want)
	if !slices.Equal(found, want) {
		t.Fatalf("%s\nslots %v\nfound in SQL %v\nin memory %v\nof %v", q.Predicate, a.slots, found, want, a.ids)
	}
}

// write stores each predicate.Subject as a contact, with the lists and segments of the
// schema.
func (a *storedAudience) write(ctx context.Context, db *storage.DB, subjects []predicate.Subject) error {
	return writeRows(ctx, db, func(w *rowWriter) {
		for key, id := range a.schema.Lists {
			w.insert(`lists (org_id, id, key, name, description, search, source, origin, source_path, status, created_at, updated_at)`,
				a.orgID, id, key, key, "", key, "api", "managed", "", "active", 1, 1)
		}
		for key, id := range a.schema.Segments {
			w.insert(`segments (org_id, id, key, name, description, search, source, profile_version, eval_class, status, eval_warning, member_count, origin, source_path, created_at, updated_at)`,
				a.orgID, id, key, key, "", key, "has attr.x", 1, "incremental", "active", "", 0, "managed", "", 1, 1)
		}
		a.ids = make([]string, len(subjects))
		for i, s := range subjects {
			a.ids[i] = core.NewID()
			a.writeSubject(w, a.ids[i], s)
		}
	})
}

func (a *storedAudience) writeSubject(w *rowWriter, id string, s predicate.Subject) {
	w.insert(`contacts (org_id, id, email, email_key, status, attributes, topic_preferences, unsubscribe_all, stub, created_at, updated_at)`,
		a.orgID, id, s.Email, strings.ToLower(s.Email), "active", jsonObject(s.Attributes), "{}", s.UnsubscribedFromAll, s.Stub, 1, 1)
	columns, held := []string{"org_id", "contact_id"}, []any{a.orgID, id}
	for name, slot := range a.slots {
		if v, ok := s.Attributes[name]; ok && a.schema.Attributes[name].Type.String() == registeredName(v.Type, a.schema.Attributes[name].Type) {
			columns, held = append(columns, slot), append(held, slotValue(v))
		}
	}
	w.insert(`contact_slots (`+strings.Join(columns, ", ")+`)`, held...)
	for topic, in := range s.Topics {
		w.insert(`contact_topics (org_id, contact_id, topic, subscription)`, a.orgID, id, topic, map[bool]string{true: "OPT_IN", false: "OPT_OUT"}[in])
	}
	for list := range s.Lists {
		w.insert(`list_members (org_id, list_id, contact_id, added_at)`, a.orgID, list, id, 1)
	}
	for segment := range s.Segments {
		w.insert(`segment_members (org_id, segment_id, contact_id, entered_at)`, a.orgID, segment, id, 1)
	}
	if s.Suppressed {
		w.insert(`suppressed_addresses (org_id, email_key)`, a.orgID, strings.ToLower(s.Email))
	}
	for _, o := range s.Events {
		a.writeEvent(w, id, s.Email, o)
	}
}

// registeredName returns the name of the type that a value counts as. The first parameter is
// the type of the value, the second the type of its attribute. A string of an enum
// attribute counts as an enum value.
func registeredName(v, of predicate.Type) string {
	if v == predicate.String && of == predicate.Enum {
		return of.String()
	}
	return v.String()
}

var storedTypes = map[predicate.EventKind]messages.EventType{
	predicate.Send: messages.Send, predicate.Delivery: messages.Delivery, predicate.Open: messages.Open, predicate.Click: messages.Click,
	predicate.Bounce: messages.Bounce, predicate.Complaint: messages.Complaint, predicate.Reject: messages.Reject,
	predicate.DeliveryDelay: messages.DeliveryDelay,
}

func (a *storedAudience) writeEvent(w *rowWriter, contactID, email string, o predicate.Occurrence) {
	if o.Event.Kind == predicate.ActivityEvent {
		w.insert(`activities (org_id, occurred_at, id, contact_id, name, properties, source, received_at)`,
			a.orgID, o.At, core.NewID(), contactID, o.Event.Activity, jsonObject(o.Properties), "api", o.At)
		return
	}
	text := func(name string) string { return o.Properties[name].Text }
	var bounce, sub any
	if v, ok := o.Properties["type"]; ok {
		bounce = v.Text
	}
	if v, ok := o.Properties["sub_type"]; ok {
		sub = v.Text
	}
	metadata := map[string]predicate.Value{}
	for name, key := range map[string]string{"url": "click_url", "processing_ms": "processing_time_ms"} {
		if v, ok := o.Properties[name]; ok {
			metadata[key] = v
		}
	}
	message := core.NewID()
	w.insert(`messages (org_id, id, sender, recipient, identity, sent_at, status, rank, last_event_at, channel, subject, template, test)`,
		a.orgID, message, "x@"+text("sender_domain"), email, text("sender_domain"), o.At, "Send", 1, o.At, "", text("subject"), text("template"), false)
	for i, test := range []bool{false, true} { // test messages do not count
		w.insert(`message_events (org_id, occurred_at, id, message_id, type, recipient, recipient_key, bounce_type, bounce_sub_type, channel, identity, template, test, metadata, recorded_at)`,
			a.orgID, o.At, fmt.Sprint(core.NewID(), i), message, string(storedTypes[o.Event.Kind]), email, strings.ToLower(email), bounce, sub,
			"", text("sender_domain"), text("template"), test, jsonObject(metadata), o.At)
	}
}

func jsonObject(values map[string]predicate.Value) string {
	object := map[string]any{}
	for name, v := range values {
		switch v.Type {
		case predicate.String:
			object[name] = v.Text
		case predicate.Number:
			object[name] = v.Number
		case predicate.Bool:
			object[name] = v.Bool
		default:
			object[name] = time.UnixMicro(v.Moment.Micros).UTC().Format(time.RFC3339Nano)
		}
	}
	text, _ := json.Marshal(object) // of strings, numbers and bools
	return string(text)
}

func slotValue(v predicate.Value) any {
	switch v.Type {
	case predicate.String:
		return v.Text
	case predicate.Number:
		return v.Number
	case predicate.Bool:
		return map[bool]float64{true: 1, false: 0}[v.Bool]
	default:
		return v.Moment.Micros
	}
}

// writeRows calls the function write in one transaction, and commits if all inserts
// succeeded.
func writeRows(ctx context.Context, db *storage.DB, write func(*rowWriter)) error {
	tx, err := db.Writer().BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	w := rowWriter{ctx: ctx, tx: tx}
	if write(&w); w.err != nil {
		return w.err
	}
	return tx.Commit()
}

// rowWriter writes rows in a transaction. After the first error it does nothing.
type rowWriter struct {
	ctx context.Context
	tx  *sql.Tx
	err error
}

func (w *rowWriter) insert(into string, values ...any) {
	places := make([]string, len(values))
	for i := range values {
		places[i] = fmt.Sprintf("$%d", i+1)
	}
	w.exec(`INSERT INTO `+into+` VALUES (`+strings.Join(places, ", ")+`)`, values...)
}

func (w *rowWriter) exec(text string, args ...any) {
	if w.err != nil {
		return
	}
	if _, err := w.tx.ExecContext(w.ctx, text, args...); err != nil {
		w.err = fmt.Errorf("%s: %w", text, err)
	}
}

// TestBothEnginesReadJSONValuesAlike checks that the SQL functions for JSON values return
// the same on SQLite and on PostgreSQL, including NULL for values of another type.
func TestBothEnginesReadJSONValuesAlike(t *testing.T) {
	t.Parallel()
	moment := func(text string) *int64 {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		micros := at.UnixMicro()
		return &micros
	}
	one, zero, big := 1.5, 0.0, 1e100
	number := map[string]*float64{
		`1.5`: &one, `15e-1`: &one, `1e100`: &big, `1e-100`: &zero, `1e101`: nil, `-1e308`: nil, `"1.5"`: nil, `true`: nil, `null`: nil, `[1.5]`: nil, `1e-320`: &zero,
	}
	moments := map[string]*int64{
		`"2026-01-31T09:00:00Z"`: moment("2026-01-31T09:00:00Z"), `"1969-12-31T23:59:59.9999999-14:30"`: moment("1969-12-31T23:59:59.9999999-14:30"),
		`"2026-01-31T09:00:00.1234567891Z"`: moment("2026-01-31T09:00:00.123456Z"), `"2024-02-29T00:00:00+23:59"`: moment("2024-02-29T00:00:00+23:59"),
		`"0001-01-01T00:00:00Z"`: moment("0001-01-01T00:00:00Z"), `"9999-12-31T23:59:59.999999Z"`: moment("9999-12-31T23:59:59.999999Z"),
		`"2026-02-29T00:00:00Z"`: nil, `"2026-13-01T00:00:00Z"`: nil, `"2026-00-01T00:00:00Z"`: nil, `"2026-01-00T00:00:00Z"`: nil, `"0000-01-01T00:00:00Z"`: nil,
		`"2026-01-01T24:00:00Z"`: nil, `"2026-01-01T00:00:60Z"`: nil, `"2026-01-01T00:00:00"`: nil, `"2026-01-01"`: nil, `"2026-01-01T5:00:00Z"`: nil,
		`"2026-01-01T00:00:00,5Z"`: nil, `"2026-01-01T00:00:00+24:00"`: nil, `"2026-01-01t00:00:00z"`: nil, `1`: nil, `"x"`: nil, `{}`: nil,
		"\"2026-01-01T00:00:00Z\\n\"": nil,
	}
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for text, want := range number {
			readsAs(t, db, "predicate_number", text, want)
		}
		for text, want := range moments {
			readsAs(t, db, "predicate_moment", text, want)
		}
		yes, no, word := 1.0, 0.0, "é\"\n😀"
		for text, want := range map[string]*float64{`true`: &yes, `false`: &no, `1`: nil, `"true"`: nil, `null`: nil} {
			readsAs(t, db, "predicate_bool", text, want)
		}
		for text, want := range map[string]*string{`"é\"\n\ud83d\ude00"`: &word, `1`: nil, `null`: nil, `["a"]`: nil} {
			readsAs(t, db, "predicate_string", text, want)
		}
	})
}

func readsAs[V comparable](t *testing.T, db *storage.DB, function, text string, want *V) {
	t.Helper()
	var got sql.Null[V]
	query := db.Dialect().Text(`SELECT ` + function + `(CAST($1 AS text)/*pg ::json*/ -> 'v')`)
	if err := db.Reader().QueryRowContext(t.Context(), query, `{"v":`+text+`}`).Scan(&got); err != nil {
		t.Errorf("%s(%s): %v", function, text, err)
		return
	}
	if got.Valid != (want != nil) || want != nil && got.V != *want {
		t.Errorf("%s(%s) = %v, want %v", function, text, got, want)
	}
}
