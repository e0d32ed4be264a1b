package bulk

import (
	"encoding/json"
	"errors"

	"github.com/mailhelm/mailhelm/core"
)

// parseBulkRow parses a JSON row. It fails with core.CodeValidationFailed if a member is
// unknown or wrong.
func parseBulkRow(raw json.RawMessage) (Row, error) {
	var row Row
	if err := core.ReadRow(raw, nil, row.take); err != nil {
		return Row{}, err
	}
	if faults := row.faults(); faults != nil {
		return row, core.InvalidFields(faults...)
	}
	return row, nil
}

const kindOfTopics = "an array of topic and subscription_status, or an object from topic to status"

// take decodes the value of one JSON member into the row.
func (row *Row) take(name string, value []byte) error {
	switch name {
	case "email":
		return core.TakeText(name, value, &row.Email)
	case "external_id":
		return core.TakeText(name, value, &row.ExternalID)
	case "rebind_external_id":
		return core.TakeAs(name, value, &row.RebindExternalID, "true or false")
	case "attributes":
		return core.TakeAs(name, value, &row.Attributes, "an object")
	case "topic_preferences":
		if err := checkTopics(value); err != nil {
			return err
		}
		return core.TakeAs(name, value, &row.TopicPreferences, kindOfTopics)
	case "lists":
		return core.TakeAs(name, value, &row.Lists, "an array of strings")
	}
	if is, err := row.Stated.Take(name, value); is {
		return err
	}
	return core.UnknownMember(name, bulkMembers)
}

// checkTopics refuses topic choices that the JSON decoder would accept and drop: values of
// another type, and unknown members.
func checkTopics(value []byte) error {
	wrong := core.Invalid("topic_preferences", "must be "+kindOfTopics)
	switch value[0] {
	case 'n', '{':
		return nil
	case '[':
	default:
		return wrong
	}
	var choices []json.RawMessage
	if json.Unmarshal(value, &choices) != nil {
		return wrong
	}
	for _, choice := range choices {
		err := core.ReadMembers(choice, func(name string, _ []byte) error {
			if name != "topic" && name != "subscription_status" {
				return core.Invalid("topic_preferences."+core.Quotable(name, maxTopicName), "is unknown; known names are topic, subscription_status")
			}
			return nil
		})
		if errors.Is(err, core.ErrNoObject) {
			return wrong
		}
		if err != nil {
			return err
		}
	}
	return nil
}
