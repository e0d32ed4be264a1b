package segments

import (
	"context"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Explanation says why a contact matches the predicate of a segment, or why it does not. It
// is evaluated when it is read. The members of the segment may differ until the segment is
// evaluated for the contact again.
type Explanation struct {
	Segment Segment
	Finding
	// At is the time for which the predicate was evaluated.
	At time.Time
}

// Finding is a part of a predicate with its result for one contact. The contact matches if
// the Truth of the whole predicate is True.
type Finding struct {
	Kind predicate.PartKind
	// Text is what the part says about the contact; see [predicate.Part].
	Text  string
	Truth predicate.Truth
	// Value has the value of the contact that decided a test, in words, such as `"free"` or
	// "3 events". It is "" for parts of the kinds All and Any.
	Value string
	// Findings has the parts of an All or Any.
	Findings []Finding
}

// TestResult is the result of one test of a predicate for one contact.
type TestResult struct {
	// Truth is the result without negations around the test.
	Truth predicate.Truth
	// Value is what the test compares: the value of the field, the number of events or
	// another aggregate, or the contact's choice about a topic. It is nil if the contact has
	// no such value, and for other tests.
	Value *predicate.Value
	// UnsubscribedFromAll and Stub are properties of the contact, on which the tests of
	// topics depend.
	UnsubscribedFromAll, Stub bool
}

// Explain evaluates each part of a segment's predicate for one contact. segment is an id or
// a key, and contactID is an id. The database evaluates the tests as for the members of the
// segment. Explain fails with core.CodeNotFound for an unknown segment and for a contact
// that is not active. It fails with core.CodeValidationFailed if the predicate does not
// compile.
func (s *Segments) Explain(ctx context.Context, orgID, segment, contactID string) (Explanation, error) {
	g, err := s.Store.Segment(ctx, orgID, segment)
	if err != nil {
		return Explanation{}, err
	}
	schema, err := s.Store.PredicateSchema(ctx, orgID)
	if err != nil {
		return Explanation{}, err
	}
	return s.explain(ctx, orgID, g, schema, contactID)
}

// explain is Explain for a segment that was read, with the schema of the organization.
func (s *Segments) explain(ctx context.Context, orgID string, g Segment, schema Schema, contactID string) (Explanation, error) {
	checked, err := predicate.Compile(g.Source, schema.Schema)
	if err != nil {
		return Explanation{}, invalidPredicate(err)
	}
	q := Question{OrgID: orgID, Predicate: checked, Slots: schema.Slots, Now: s.Clock(), Contacts: []string{contactID}}
	found, err := findings(ctx, s.Members, q)
	return Explanation{Segment: g, Finding: found, At: q.Now}, err
}

// findings evaluates each part of the predicate for the only contact of the question.
func findings(ctx context.Context, members MemberStore, q Question) (Finding, error) {
	root := q.Predicate.Parts()
	var nodes []predicate.Node
	for _, test := range root.Tests() {
		nodes = append(nodes, test.Test)
	}
	if !core.IsID(q.Contacts[0]) {
		return Finding{}, core.NotFound("contact")
	}
	results, err := members.TestResults(ctx, q, nodes)
	if err != nil {
		return Finding{}, err
	}
	of := map[predicate.Node]TestResult{}
	for i, node := range nodes {
		of[node] = results[i]
	}
	return findingOf(root, of), nil
}

func findingOf(p *predicate.Part, of map[predicate.Node]TestResult) Finding {
	f := Finding{Kind: p.Kind, Text: p.Text, Truth: p.Truth(func(test predicate.Node) predicate.Truth { return of[test].Truth })}
	if p.Kind == predicate.Test {
		f.Value = of[p.Test].words(p.Test)
	}
	for _, part := range p.Parts {
		f.Findings = append(f.Findings, findingOf(part, of))
	}
	return f
}

// words returns the value that decided the test, in words.
func (r TestResult) words(test predicate.Node) string {
	switch n := test.(type) {
	case *predicate.EventTest:
		return r.eventWords(n)
	case *predicate.Consent:
		return r.consentWords(n)
	case *predicate.Membership:
		text := "on the list"
		if n.Segment {
			text = "in the segment"
		}
		return r.unless(text)
	}
	if r.Value == nil {
		return "no value"
	}
	return r.Value.Words()
}

// unless returns the text, after "not " unless the test is True.
func (r TestResult) unless(text string) string {
	if r.Truth == predicate.True {
		return text
	}
	return "not " + text
}

func (r TestResult) eventWords(n *predicate.EventTest) string {
	switch {
	case r.Value == nil && n.Field.Name != "":
		return "no event with this property"
	case r.Value == nil:
		return "no such event"
	case n.Kind != predicate.Count && n.Kind != predicate.Exists:
		return r.Value.Words()
	case r.Value.Number == 1:
		return "1 event"
	}
	return strconv.FormatFloat(r.Value.Number, 'f', -1, 64) + " events"
}

// consentWords returns the choice of the contact, or what counts before it.
func (r TestResult) consentWords(n *predicate.Consent) string {
	switch n.Kind {
	case predicate.Suppressed:
		return r.unless("suppressed")
	case predicate.UnsubscribedAll:
		return r.unless("unsubscribed from all mail")
	case predicate.Subscribed:
		if r.UnsubscribedFromAll {
			return "unsubscribed from all mail"
		}
		if r.Stub {
			return "known only from activities, which subscribe to nothing"
		}
	}
	switch {
	case r.Value != nil && r.Value.Text == string(sending.OptIn):
		return "opted in"
	case r.Value != nil:
		return "opted out"
	case n.DefaultIn:
		return "no choice; the default is subscribed"
	}
	return "no choice; the default is opted out"
}
