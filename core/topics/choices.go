package topics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/invopop/jsonschema"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	maxChoices   = 50
	maxTopicName = 64
)

// Preference is a contact's explicit choice about one topic.
type Preference struct {
	Topic              string               `json:"topic" voice:"untrusted" jsonschema:"minLength=1,maxLength=64"`
	SubscriptionStatus sending.Subscription `json:"subscription_status" jsonschema:"enum=OPT_IN,enum=OPT_OUT"`
}

// Choices has a contact's explicit choices about topics. Callers send them as an array of
// topic and status, or as an object from topic to status. nil means that the caller did not
// send the member; empty means that the contact has no explicit choice.
type Choices []Preference

// UnmarshalJSON decodes an array or an object, with statuses in any case. For null it does
// not change c.
func (c *Choices) UnmarshalJSON(b []byte) error {
	if err := c.decode(bytes.TrimSpace(b)); err != nil {
		return err
	}
	for i, choice := range *c { // statuses of single writes are canonical already, those of rows are not
		(*c)[i].SubscriptionStatus = sending.Subscription(core.CanonicalWord(string(choice.SubscriptionStatus), string(sending.OptIn), string(sending.OptOut)))
	}
	return nil
}

func (c *Choices) decode(b []byte) error {
	switch b[0] {
	case '[':
		*c = Choices{}
		if err := json.Unmarshal(b, (*[]Preference)(c)); err != nil {
			return err
		}
		return c.checkUnique()
	case '{':
		var byTopic map[string]sending.Subscription
		if err := json.Unmarshal(b, &byTopic); err != nil {
			return err
		}
		*c = ChoicesOf(byTopic)
	}
	return nil
}

// checkUnique refuses two choices about the same topic in an array. In an object, they
// would be a repeated member, which the strict JSON decoder refuses.
func (c Choices) checkUnique() error {
	seen := make(map[string]bool, len(c))
	for _, choice := range c {
		if seen[choice.Topic] {
			return core.Invalid("topic_preferences."+core.Quotable(choice.Topic, maxTopicName), "has two choices; send one")
		}
		seen[choice.Topic] = true
	}
	return nil
}

// JSONSchema describes both forms.
func (Choices) JSONSchema() *jsonschema.Schema {
	status := &jsonschema.Schema{Type: "string", Enum: []any{sending.OptIn, sending.OptOut}}
	item := jsonschema.NewProperties()
	item.Set("topic", &jsonschema.Schema{Type: "string", Description: "Name of a topic, not its display name."})
	item.Set("subscription_status", &jsonschema.Schema{Type: "string", Enum: status.Enum, Description: "OPT_IN: the contact gets mail on it."})
	most := uint64(maxChoices)
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{
			Type: "array", MaxItems: &most,
			Items: &jsonschema.Schema{Type: "object", Properties: item, Required: []string{"topic", "subscription_status"}, AdditionalProperties: jsonschema.FalseSchema},
		},
		{Type: "object", MaxProperties: &most, AdditionalProperties: status},
		{Type: "null"},
	}}
}

// Faults returns a fault if there are too many choices, and one for each invalid status.
// The JSON schema of single writes finds the same faults, but rows of bulk writes are not
// checked by a schema.
func (c Choices) Faults() []core.FieldError {
	if len(c) > maxChoices {
		return []core.FieldError{{Field: "topic_preferences", Reason: fmt.Sprintf("must have at most %d items", maxChoices)}}
	}
	var faults []core.FieldError
	for _, choice := range c {
		if s := choice.SubscriptionStatus; s != sending.OptIn && s != sending.OptOut {
			faults = append(faults, core.FieldError{Field: choice.field(), Reason: "must be OPT_IN or OPT_OUT"})
		}
	}
	return faults
}

// UnknownTopicFaults returns a fault for each choice about a topic that is not in names.
func (c Choices) UnknownTopicFaults(names []string) []core.FieldError {
	var faults []core.FieldError
	for _, choice := range c {
		if !slices.Contains(names, choice.Topic) {
			faults = append(faults, core.FieldError{Field: choice.field(), Reason: "is not a topic; topics are " + core.QuotedList(names)})
		}
	}
	return faults
}

// field returns the path of the choice in the caller's arguments, such as
// topic_preferences.news.
func (p Preference) field() string {
	return "topic_preferences." + core.Quotable(p.Topic, maxTopicName)
}

// ChoicesOf converts a map from topic to status to choices, sorted by topic.
func ChoicesOf(byTopic map[string]sending.Subscription) Choices {
	choices := make(Choices, 0, len(byTopic))
	for _, topic := range slices.Sorted(maps.Keys(byTopic)) {
		choices = append(choices, Preference{Topic: topic, SubscriptionStatus: byTopic[topic]})
	}
	return choices
}

// ChoicesByTopic converts choices to a map from topic to status. If there are several
// choices about a topic, the last one counts.
func ChoicesByTopic(choices []Preference) map[string]sending.Subscription {
	m := make(map[string]sending.Subscription, len(choices))
	for _, c := range choices {
		m[c.Topic] = c.SubscriptionStatus
	}
	return m
}
