package audience

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/invopop/jsonschema"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// TopicChoices are explicit choices about topics as callers write them: an array
// of topic and status, or an object from topic to status. nil means nothing was
// said; empty means no explicit choice.
type TopicChoices []TopicPreference

// UnmarshalJSON reads either form. null leaves the choices nil.
func (c *TopicChoices) UnmarshalJSON(b []byte) error {
	switch b = bytes.TrimSpace(b); b[0] {
	case '[':
		*c = TopicChoices{}
		if err := json.Unmarshal(b, (*[]TopicPreference)(c)); err != nil {
			return err
		}
		return c.unambiguous()
	case '{':
		var byTopic map[string]sending.Subscription
		if err := json.Unmarshal(b, &byTopic); err != nil {
			return err
		}
		*c = choicesOf(byTopic)
	}
	return nil
}

// unambiguous refuses two choices about one topic. In the other form that is a
// member named twice, which strict JSON refuses.
func (c TopicChoices) unambiguous() error {
	seen := make(map[string]bool, len(c))
	for _, choice := range c {
		if seen[choice.Topic] {
			return core.Invalid("topic_preferences."+core.Quotable(choice.Topic, 64), "is chosen about twice")
		}
		seen[choice.Topic] = true
	}
	return nil
}

// JSONSchema describes both forms.
func (TopicChoices) JSONSchema() *jsonschema.Schema {
	status := &jsonschema.Schema{Type: "string", Enum: []any{sending.OptIn, sending.OptOut}}
	item := jsonschema.NewProperties()
	item.Set("topic", &jsonschema.Schema{Type: "string"})
	item.Set("subscription_status", status)
	maxTopics := uint64(50)
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{
			Type: "array", MaxItems: &maxTopics,
			Items: &jsonschema.Schema{Type: "object", Properties: item, Required: []string{"topic", "subscription_status"}, AdditionalProperties: jsonschema.FalseSchema},
		},
		{Type: "object", MaxProperties: &maxTopics, AdditionalProperties: status},
		{Type: "null"},
	}}
}

// choicesOf lists choices by topic name.
func choicesOf(byTopic map[string]sending.Subscription) TopicChoices {
	choices := make(TopicChoices, 0, len(byTopic))
	for _, topic := range slices.Sorted(maps.Keys(byTopic)) {
		choices = append(choices, TopicPreference{Topic: topic, SubscriptionStatus: byTopic[topic]})
	}
	return choices
}

// byTopic is the reverse of choicesOf; the last choice about a topic counts.
func byTopic(choices []TopicPreference) map[string]sending.Subscription {
	m := make(map[string]sending.Subscription, len(choices))
	for _, c := range choices {
		m[c.Topic] = c.SubscriptionStatus
	}
	return m
}

// consentOf is a mirrored contact's consent in the account's form.
func consentOf(c Contact) sending.Contact {
	return sending.Contact{Email: c.Email, UnsubscribeAll: c.UnsubscribeAll, Preferences: byTopic(c.TopicPreferences)}
}

// withConsent returns the contact with the consent the account holds.
func (c Contact) withConsent(consent sending.Contact) Contact {
	c.UnsubscribeAll = consent.UnsubscribeAll
	c.TopicPreferences = choicesOf(consent.Preferences)
	return c.judged()
}

// liveConsent is the consent in force. The account is asked; an address it does
// not know keeps what the mirror remembers, and an archived contact is not asked
// about, because archiving takes addresses off the account's list. What the account
// has yet to be told counts as told.
func (a *Audience) liveConsent(ctx context.Context, orgID string, c Contact) (sending.Contact, error) {
	if c.Status == Archived {
		return consentOf(c), nil
	}
	live, err := a.Account.Contact(ctx, orgID, c.Email)
	if sending.IsAbsent(err) {
		return a.rememberedConsent(ctx, orgID, c)
	}
	if err != nil {
		return live, sending.Unavailable(err)
	}
	pending, err := a.Store.PendingPush(ctx, orgID, c.ID)
	if err != nil || pending == nil {
		return live, err
	}
	return settled(&live, c, *pending), nil
}

// withEveryNo joins the consent of two sources: an opt-out in either holds, and
// otherwise a choice in either.
func withEveryNo(a, b sending.Contact) sending.Contact {
	joined := sending.Contact{UnsubscribeAll: a.UnsubscribeAll || b.UnsubscribeAll, Preferences: map[string]sending.Subscription{}}
	for _, source := range []sending.Contact{a, b} {
		for topic, choice := range source.Preferences {
			if joined.Preferences[topic] != sending.OptOut {
				joined.Preferences[topic] = choice
			}
		}
	}
	return joined
}

// hasOptOut reports whether the person said no to anything.
func hasOptOut(c sending.Contact) bool {
	if c.UnsubscribeAll {
		return true
	}
	for _, choice := range c.Preferences {
		if choice == sending.OptOut {
			return true
		}
	}
	return false
}

// knownTopics fails with validation_failed when a choice is about a topic that
// the account does not have.
func (a *Audience) knownTopics(ctx context.Context, orgID string, choices TopicChoices) error {
	if len(choices) == 0 {
		return nil
	}
	list, err := a.topics.get(ctx, orgID, a.Account)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range list {
		names = append(names, t.Name)
	}
	var faults []core.FieldError
	for _, c := range choices {
		if !slices.Contains(names, c.Topic) {
			faults = append(faults, core.FieldError{
				Field:  "topic_preferences." + core.Quotable(c.Topic, 64),
				Reason: "is no topic; the topics are " + core.QuotedList(names),
			})
		}
	}
	if faults == nil {
		return nil
	}
	return core.InvalidFields(faults...).WithCall("audience_get_schema", nil)
}
