package contacts_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"pgregory.net/rapid"
)

// tagged is a contact without the method MarshalJSON.
type tagged contacts.Contact

// TestContactsAreEncodedByTheirTags checks that a contact is encoded as package json encodes its
// fields.
func TestContactsAreEncodedByTheirTags(t *testing.T) {
	t.Parallel()
	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "ada@example.com", "<b>&\u2028\u2029\x00\b\f\x7f", "\xff", `"\/`}))
	values := rapid.OneOf(
		rapid.Map(texts, func(s string) any { return s }), rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.Map(rapid.IntRange(-1e9, 1e9), func(n int) any { return float64(n) }),
		rapid.SampledFrom([]any{true, false, nil, 12, 1e21, 1e-6, 9.99e-7, -0.5, json.Number("1.10"), []any{"<", 1.5}, map[string]any{"b": nil, "a": "é"}}),
	)
	rapid.Check(t, func(t *rapid.T) {
		c := contacts.Contact{
			ID: texts.Draw(t, "id"), Email: texts.Draw(t, "email"), Status: contacts.ContactStatus(texts.Draw(t, "status")),
			Attributes: rapid.MapOfN(texts, values, 0, 5).Draw(t, "attributes"), UnsubscribeAll: rapid.Bool().Draw(t, "unsubscribe_all"), Mailable: rapid.Bool().Draw(t, "mailable"),
			CreatedAt: time.UnixMicro(rapid.Int64Range(0, 1<<52).Draw(t, "created")).UTC(), UpdatedAt: time.Unix(rapid.Int64Range(0, 1<<40).Draw(t, "updated"), 0).UTC(),
		}
		if rapid.Bool().Draw(t, "has external id") {
			id := texts.Draw(t, "external id")
			c.ExternalID = &id
		}
		if n := rapid.IntRange(-1, 2).Draw(t, "topics"); n >= 0 {
			c.TopicPreferences = make([]topics.Preference, n)
			for i := range n {
				c.TopicPreferences[i] = topics.Preference{Topic: texts.Draw(t, "topic"), SubscriptionStatus: sending.OptIn}
			}
		}
		if n := rapid.IntRange(-1, 2).Draw(t, "lists"); n >= 0 {
			c.Lists = make([]lists.Ref, n)
			for i := range n {
				c.Lists[i] = lists.Ref{ID: texts.Draw(t, "list"), Key: texts.Draw(t, "key"), Name: texts.Draw(t, "name")}
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "nil") == 0 {
			c.Attributes = nil
		}
		got, err := json.Marshal(c)
		want, wantErr := json.Marshal(tagged(c))
		if string(got) != string(want) || (err == nil) != (wantErr == nil) {
			t.Fatalf("%s, %v\nwant\n%s, %v", got, err, want, wantErr)
		}
		if appended, err := c.AppendJSON([]byte("x")); wantErr == nil && (err != nil || string(appended) != "x"+string(want)) {
			t.Fatalf("appended %s, %v\nwant %s", appended, err, want)
		}
	})
}
