package storage_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage"
	bulkstore "github.com/mailhelm/mailhelm/storage/bulk"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// randomText returns random ASCII text of the given length. PostgreSQL can compress ordinary
// text to fit an index entry, but not this text.
func randomText(bytes int) string {
	source := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, bytes)
	for i := range text {
		text[i] = byte('0' + source.IntN('z'-'0'))
	}
	return strings.NewReplacer(`\`, "_", `"`, "_").Replace(string(text))
}

// LongTexts returns texts whose lengths are near the maximum that an index entry holds
// completely. It also returns variants of them that differ only beyond that maximum.
func LongTexts() []string {
	whole := randomText(4096)
	var texts []string
	for _, n := range []int{1, 2046, 2047, 2048, 2049, 2050, 2052, 2053, 3000, 4095, 4096} {
		texts = append(texts, whole[:n])
	}
	for at := range 4 { // puts a four-byte character across or just behind the maximum length, at four offsets
		wide := whole[:2045+at] + "\U0001F600" + whole[:1000]
		texts = append(texts, wide, wide+"z", wide[:2045+at+4])
	}
	return append(texts,
		whole[:4095]+"!", whole[:4095]+"~", whole[:2048]+"\U0001F600"+whole[2052:], whole[:2048]+"é", "", "short", strings.Repeat("é", 2048))
}

// predicatesAbout returns predicates that compare the attribute with a non-empty text and
// with parts of that text.
func predicatesAbout(name, text string) []string {
	// the texts contain no character that must be escaped
	quoted := func(s string) string { return `"` + s + `"` }
	var sources []string
	for _, test := range []string{`= %s`, `!= %s`, `in ["short", %s]`, `starts with %s`, `ends with %s`, `contains %s`} {
		sources = append(sources, `attr.`+name+` `+fmt.Sprintf(test, quoted(text)))
	}
	runes := []rune(text)
	tail, middle := string(runes[max(0, len(runes)-3):]), string(runes[len(runes)*2/3:min(len(runes), len(runes)*2/3+9)])
	return append(sources,
		`attr.`+name+` ends with `+quoted(tail), `not attr.`+name+` contains `+quoted(tail),
		`attr.`+name+` contains `+quoted(middle), `not attr.`+name+` ends with `+quoted(middle),
		`attr.`+name+` contains `+quoted(tail)+` and count(activity.purchase within 30d) >= 1`,
		`attr.`+name+` is known`, `attr.`+name+` is unknown`)
}

// TestLongTextsAreJudgedWhole checks that predicates compare the complete text of an
// attribute, although an index holds only its beginning. That must hold before a rename of
// the attribute, after the rename, and after the background pass that moves the contacts'
// values to the new name.
func TestLongTextsAreJudgedWhole(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		store, org := db.Contacts(), core.NewID()
		a := attributes.Attribute{ID: core.NewID(), Name: "bio", Type: attributes.String, CreatedAt: time.Unix(1, 0)}
		fatal(t, db.Attributes().InsertAttribute(t.Context(), org, a))
		texts := LongTexts()
		without := contacts.Contact{ID: core.NewID(), Email: "without@x", Status: contacts.Active}
		fatal(t, store.InsertContact(t.Context(), org, without))
		held := map[string]*string{without.ID: nil}
		var many []contacts.Contact
		for i, text := range texts {
			c := contacts.Contact{ID: core.NewID(), Email: fmt.Sprintf("c%d@x", i), Status: contacts.Active, Attributes: map[string]any{"bio": text}}
			held[c.ID] = &text
			if i%2 == 1 {
				many = append(many, c)
				continue
			}
			fatal(t, store.InsertContact(t.Context(), org, c))
		}
		fatal(t, bulkstore.NewContactStore(db.DB).WriteContacts(t.Context(), org, bulk.ContactsWrite{At: time.Unix(2, 0), Insert: many}))
		for id := range held {
			_, err := db.Writer().ExecContext(t.Context(), `INSERT INTO activities (org_id, occurred_at, id, contact_id, name, properties, source, received_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, org, 2_000_000, core.NewID(), id, purchase.Activity, "{}", "api", 2_000_000)
			fatal(t, err)
		}

		checkPredicates(t, db, org, "bio", texts, held)
		a.Name = "about"
		fatal(t, db.Attributes().UpdateAttribute(t.Context(), org, a))
		checkPredicates(t, db, org, "about", texts[:13], held)
		passUntilDone(t, db.AttributePasses(), org)
		checkPredicates(t, db, org, "about", texts[13:], held)
	})
}

// purchase is an activity that every contact has. A predicate that also requires this
// activity can be evaluated from the activities instead of the contacts.
var purchase = predicate.Event{Kind: predicate.ActivityEvent, Activity: "purchase"}

func checkPredicates(t *testing.T, db *storage.DB, org, name string, texts []string, held map[string]*string) {
	t.Helper()
	schema, err := db.Segments().PredicateSchema(t.Context(), org)
	fatal(t, err)
	if schema.Slots[name] == "" {
		t.Fatalf("%s has no slot", name)
	}
	checkSubjects(t, db, org, name, schema, held)
	for _, text := range slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" }) {
		for _, source := range predicatesAbout(name, text) {
			checked, err := predicate.Compile(source, schema.Schema)
			fatal(t, err)
			var want []string
			for id, value := range held {
				s := predicate.Subject{Events: []predicate.Occurrence{{Event: purchase, At: 2_000_000}}}
				if value != nil {
					s.Attributes = map[string]predicate.Value{name: {Type: predicate.String, Text: *value}}
				}
				if checked.Match(s, time.Unix(3, 0)) == predicate.True {
					want = append(want, id)
				}
			}
			question := segments.Question{OrgID: org, Predicate: checked, Slots: schema.Slots, Now: time.Unix(3, 0)}
			examples, err := db.SegmentMembers().Examples(t.Context(), question, len(held))
			fatal(t, err)
			var found []string
			for _, e := range examples {
				found = append(found, e.ContactID)
			}
			slices.Sort(want)
			slices.Sort(found)
			if !slices.Equal(found, want) {
				t.Errorf("%.60s… (%d bytes): %d in SQL, %d in memory", source, len(text), len(found), len(want))
			}
		}
	}
}

// checkSubjects checks that the contacts are read with their complete texts.
func checkSubjects(t *testing.T, db *storage.DB, org, name string, schema segments.Schema, held map[string]*string) {
	t.Helper()
	q := segments.SubjectQuery{OrgID: org, Contacts: slices.Collect(maps.Keys(held)), Schema: schema, Refs: predicate.References{Attributes: []string{name}}}
	read, err := db.Subjects().Subjects(t.Context(), q)
	fatal(t, err)
	for id, want := range held {
		got, known := read[id].Attributes[name]
		if known != (want != nil) || known && got.Text != *want {
			t.Errorf("%s is read as %.20q (%d bytes, %v)", name, got.Text, len(got.Text), known)
		}
	}
}
