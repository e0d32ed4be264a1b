package audience

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core"
)

// Rows are read member by member and not by encoding/json alone, which would take
// "Email" for "email" and tell of a member that it does not know in words of its own.

// parseBulkRow reads a row and refuses what is wrong in it, whatever else there is.
func parseBulkRow(raw json.RawMessage) (BulkRow, error) {
	var row BulkRow
	if err := core.CheckJSON(raw); err != nil {
		return row, err
	}
	switch err := eachMember(raw, row.take); {
	case errors.Is(err, errNoObject):
		return BulkRow{}, core.Invalid("", "is no object")
	case err != nil:
		return BulkRow{}, err
	}
	if faults := row.faults(); faults != nil {
		return row, core.InvalidFields(faults...)
	}
	return row, nil
}

// decoders are used again, as those of core are that read whole requests.
var decoders = sync.Pool{New: func() any { return jsontext.NewDecoder(noInput) }}

var noInput = strings.NewReader("")

var errNoObject = errors.New("is no JSON object")

// eachMember calls f with each member of an object until it fails. A member that is
// named twice was refused before.
func eachMember(raw []byte, f func(name string, value []byte) error) error {
	d := decoders.Get().(*jsontext.Decoder)
	d.Reset(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true))
	defer func() {
		d.Reset(noInput) // or the pool would keep the row
		decoders.Put(d)
	}()
	if d.PeekKind() != '{' {
		return errNoObject
	}
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != '}' {
		var name jsontext.Token
		if name, err = d.ReadToken(); err != nil {
			break
		}
		spelled := name.String() // the token is gone with the next one
		var value jsontext.Value
		if value, err = d.ReadValue(); err == nil {
			err = f(spelled, value)
		}
	}
	if _, ours := errors.AsType[*core.Error](err); err == nil || ours {
		return err
	}
	return &core.Error{Code: core.CodeValidationFailed, Message: "The row cannot be read.", Err: err}
}

const kindOfTopics = "an array of topic and subscription_status, or an object from topic to status"

// take reads one member.
func (row *BulkRow) take(name string, value []byte) error {
	switch name {
	case "email":
		return takeText(name, value, &row.Email)
	case "external_id":
		return takeText(name, value, &row.ExternalID)
	case "rebind_external_id":
		return takeAs(name, value, &row.RebindExternalID, "true or false")
	case "attributes":
		return takeAs(name, value, &row.Attributes, "an object")
	case "topic_preferences":
		if err := checkTopics(value); err != nil {
			return err
		}
		return takeAs(name, value, &row.TopicPreferences, kindOfTopics)
	case "unsubscribe_all":
		return takeAs(name, value, &row.UnsubscribeAll, "true, false or null")
	case "lists":
		return takeAs(name, value, &row.Lists, "an array of strings")
	}
	return core.Invalid(core.Quotable(name, 64), "is no member of a row")
}

func takeText(name string, value []byte, into **string) error {
	switch value[0] {
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return core.Invalid(name, "is not valid JSON at this member")
		}
		s := string(text)
		*into = &s
	case 'n':
		*into = nil
	default:
		return core.Invalid(name, "must be a string")
	}
	return nil
}

// takeAs keeps numbers as they are spelled.
func takeAs(name string, value []byte, into any, kind string) error {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	err := decoder.Decode(into)
	if refusal, ours := errors.AsType[*core.Error](err); ours {
		return refusal
	}
	if err != nil {
		return core.Invalid(name, "must be "+kind)
	}
	return nil
}

// checkTopics refuses what the choices would be read without: another kind of value,
// and members that a choice does not have.
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
		err := eachMember(choice, func(name string, _ []byte) error {
			if name != "topic" && name != "subscription_status" {
				return core.Invalid("topic_preferences."+core.Quotable(name, maxTopicName), "is no member of a choice")
			}
			return nil
		})
		if errors.Is(err, errNoObject) {
			return wrong
		}
		if err != nil {
			return err
		}
	}
	return nil
}
