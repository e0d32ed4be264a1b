package consent_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/consent"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"pgregory.net/rapid"
)

const (
	histories = 10 // drawn sequences of calls
	calls     = 25 // calls in each
)

// TestStoreEqualsSimulator makes the same drawn calls of a list in the database and of a simulated
// account. Results, kinds of failures and the state after each history must be equal.
func TestStoreEqualsSimulator(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		now := start
		clock := func() time.Time { return now }
		simulated := simulatortest.Open(t, simulator.Options{Clock: clock})
		stored := consent.New(db.DB, clock)
		drawn := rapid.Custom(func(t *rapid.T) []call { return rapid.SliceOfN(rapid.Custom(drawCall), calls, calls).Draw(t, "calls") })
		for seed := range histories {
			org := core.NewID()
			must(t, simulated.Seed(t.Context(), org, simulator.Setup{}))
			begin := []call{{Method: "put many", Contacts: []sending.Contact{{Email: "ada@example.com"}}}, {Method: "ensure"}, {Method: "topics", Topics: first}}
			for i, c := range append(begin[seed%2:], drawn.Example(seed)...) {
				now = now.Add(time.Second)
				want, got := c.of(t, simulated, org), c.of(t, stored, org)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("history %d, call %d %+v (-simulator +store):\n%s", seed, i, c, diff)
				}
			}
		}
	})
}

// call is a drawn call. Its fields are used by the methods that need them.
type call struct {
	Method   string
	Email    string
	Contacts []sending.Contact
	Topics   []sending.Topic
}

var (
	emails      = []string{"ada@example.com", "ADA@Example.com", "bob@example.com", "ünal@example.com", "ÜNAL@example.com", "eve+x@example.com", `"<&>"@example.com`, "bad", "a b@c.example"}
	topicNames  = []string{"news", "offers", "a_b", "axb", "NEWS"}
	first       = []sending.Topic{{Name: "offers", Default: sending.OptIn}, {Name: "news", Default: sending.OptOut}, {Name: "axb", Default: sending.OptIn}, {Name: "a_b", Default: sending.OptIn}}
	wrongTopics = []sending.Topic{{Name: "no name", Default: sending.OptIn}, {Name: "news", Default: "MAYBE"}, {Name: "news", DisplayName: "\x00", Default: sending.OptIn}}
)

func drawCall(t *rapid.T) call {
	c := call{
		Method: rapid.SampledFrom([]string{"put", "put", "put", "put many", "put many", "put many", "topics", "delete", "erase", "contact"}).Draw(t, "method"),
		Email:  rapid.SampledFrom(emails).Draw(t, "email"),
	}
	for range rapid.IntRange(1, 4).Draw(t, "contacts") {
		c.Contacts = append(c.Contacts, drawContact(t))
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.SampledFrom(topicNames), 1, 7).Draw(t, "topics")))) {
		c.Topics = append(c.Topics, sending.Topic{Name: name, DisplayName: rapid.SampledFrom([]string{"", "A", "B"}).Draw(t, "title"), Default: rapid.SampledFrom([]sending.Subscription{sending.OptIn, sending.OptOut}).Draw(t, "default")})
	}
	slices.Reverse(c.Topics)
	switch rapid.IntRange(0, 9).Draw(t, "fault") {
	case 0:
		c.Topics = append(c.Topics, rapid.SampledFrom(wrongTopics).Draw(t, "wrong"))
	case 1:
		for i := range 51 {
			c.Topics = append(c.Topics, sending.Topic{Name: fmt.Sprint("t", i), Default: sending.OptIn})
		}
	}
	return c
}

func drawContact(t *rapid.T) sending.Contact {
	c := sending.Contact{Email: rapid.SampledFrom(emails).Draw(t, "email"), UnsubscribeAll: rapid.Bool().Draw(t, "all"), Preferences: map[string]sending.Subscription{}}
	for range rapid.IntRange(0, 2).Draw(t, "choices") {
		c.Preferences[rapid.SampledFrom(topicNames).Draw(t, "topic")] = rapid.SampledFrom([]sending.Subscription{sending.OptIn, sending.OptIn, sending.OptIn, sending.OptOut, sending.OptOut, sending.OptOut, "MAYBE"}).Draw(t, "choice")
	}
	return c
}

// outcome is all that a call and the reads after it return.
type outcome struct {
	Kind     string
	Outcomes []string
	Contact  sending.Contact
	List     sending.ContactList
	ListKind string
	Page     []sending.Contact
}

func kind(err error) string {
	if err == nil {
		return ""
	}
	if f, ok := err.(*sending.Failure); ok { //nolint:errorlint // the type of the error itself is the contract
		return string(f.Kind)
	}
	return "untyped"
}

// of makes the call, and reads the list and its contacts.
func (c call) of(t *testing.T, s smtp.Consent, org string) outcome {
	t.Helper()
	var o outcome
	ctx := t.Context()
	switch c.Method {
	case "ensure":
		o.Kind = kind(s.EnsureContactList(ctx, org))
	case "put":
		o.Kind = kind(s.PutContact(ctx, org, c.Contacts[0]))
	case "put many":
		outcomes, err := s.PutContacts(ctx, org, c.Contacts)
		o.Kind = kind(err)
		for _, f := range outcomes {
			if f == nil {
				o.Outcomes = append(o.Outcomes, "")
			} else {
				o.Outcomes = append(o.Outcomes, string(f.Kind))
			}
		}
	case "topics":
		o.Kind = kind(s.ChangeTopics(ctx, org, func([]sending.Topic) ([]sending.Topic, error) { return c.Topics, nil }))
	case "delete":
		o.Kind = kind(s.DeleteContact(ctx, org, c.Email))
	case "erase":
		o.Kind = kind(s.EraseAddress(ctx, org, c.Email))
	case "contact":
		var err error
		o.Contact, err = s.Contact(ctx, org, c.Email)
		o.Kind = kind(err)
	}
	var err error
	o.List, err = s.ContactList(ctx, org)
	o.ListKind = kind(err)
	if o.Page, _, err = s.Contacts(ctx, org, ""); kind(err) != o.ListKind {
		t.Errorf("the list fails with %q, its page with %v", o.ListKind, err)
	}
	return o
}
