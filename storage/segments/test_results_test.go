package segments_test

import (
	"context"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicate/predicatetest"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage"
	segmentsstore "github.com/mailhelm/mailhelm/storage/segments"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"pgregory.net/rapid"
)

// TestTestResultsDecideMembership checks for random predicates and contacts that the
// results of the tests, combined by the parts of the predicate, say whether the query for
// all members finds the contact. Each test must have the same result as in memory.
func TestTestResultsDecideMembership(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		rapid.Check(t, func(t *rapid.T) {
			drawn := predicatetest.Cases(2, 4).Draw(t, "case")
			stored := storedAudience{slots: drawSlots(t, drawn.Schema), schema: drawn.Schema, orgID: core.NewID()}
			if err := stored.write(context.Background(), db, drawn.Subjects); err != nil {
				t.Fatal(err)
			}
			for i, p := range drawn.Predicates {
				stored.compareTests(t, db, drawn.Subjects, p, i%len(drawn.Subjects))
			}
		})
	})
}

// compareTests compares the results of the tests of p for one contact with their results in
// memory, and their combination with the query for all members.
func (a *storedAudience) compareTests(t *rapid.T, db *storage.DB, subjects []predicate.Subject, p *predicate.Checked, at int) {
	t.Helper()
	q := segments.Question{OrgID: a.orgID, Predicate: p, Slots: a.slots, Now: predicatetest.Now}
	members, err := segmentsstore.Matching(context.Background(), db.DB, q)
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	var tests []predicate.Node
	for _, part := range p.Parts().Tests() {
		tests = append(tests, part.Test)
	}
	q.Contacts = a.ids[at : at+1]
	results, err := db.SegmentMembers().TestResults(context.Background(), q, tests)
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	of := map[predicate.Node]predicate.Truth{}
	for i, test := range tests {
		of[test] = results[i].Truth
		alone := predicate.Checked{Root: test}
		if want := alone.Match(subjects[at], q.Now); results[i].Truth != want {
			t.Fatalf("test %d of %s is %s in SQL and %s in memory", i, p, results[i].Truth, want)
		}
		checkValue(t, subjects[at], test, results[i])
	}
	truth := p.Parts().Truth(func(test predicate.Node) predicate.Truth { return of[test] })
	if is := slices.Contains(members, a.ids[at]); is != (truth == predicate.True) {
		t.Fatalf("%s: the tests combine to %s, and membership is %v", p, truth, is)
	}
}

// checkValue checks that the value of a test of an attribute is the stored value, and that
// a test is Unknown if its field has no value.
func checkValue(t *rapid.T, s predicate.Subject, test predicate.Node, r segments.TestResult) {
	t.Helper()
	var f predicate.Field
	switch n := test.(type) {
	case *predicate.Compare:
		f = n.Field
	case *predicate.In:
		f = n.Field
	case *predicate.Match:
		f = n.Field
	case *predicate.Age:
		f = n.Field
	default:
		return
	}
	if (r.Value == nil) != (r.Truth == predicate.Unknown) {
		t.Fatalf("the value is %v and the test %s", r.Value, r.Truth)
	}
	want, known := s.Attributes[f.Name]
	if f.Source == predicate.Email {
		want, known = predicate.StringValue(s.Email), true
	}
	if r.Value != nil && (!known || *r.Value != want) {
		t.Fatalf("the value of %s is %v, want %v", f.Name, *r.Value, want)
	}
}

// TestTestResultsOfOtherContactsAreNotFound checks that tests are not evaluated for a
// contact of another organization.
func TestTestResultsOfOtherContactsAreNotFound(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		a := storedAudience{orgID: core.NewID()}
		if err := a.write(t.Context(), db, []predicate.Subject{{Email: "a@example.com"}}); err != nil {
			t.Fatal(err)
		}
		checked, err := predicate.Compile(`attr.email contains "a"`, predicate.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		for orgID, found := range map[string]bool{a.orgID: true, core.NewID(): false} {
			q := segments.Question{OrgID: orgID, Now: predicatetest.Now, Contacts: a.ids}
			results, err := db.SegmentMembers().TestResults(t.Context(), q, []predicate.Node{checked.Root})
			if found && (err != nil || results[0].Truth != predicate.True) {
				t.Errorf("%v, %v in the organization of the contact", results, err)
			}
			if !found && (err == nil || core.AsError(err).Code != core.CodeNotFound) {
				t.Errorf("%v, %v in another organization", results, err)
			}
		}
	})
}
