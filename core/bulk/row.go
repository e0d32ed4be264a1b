package bulk

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/invopop/jsonschema"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/topics"
)

// MaxRows is the greatest number of rows in one bulk write.
const MaxRows = 5000

const (
	maxExternalID  = 255
	maxEmailLength = 254
	maxRowLists    = 200
	maxTopicName   = 64
)

// Row is one contact of a bulk write. Its fields are the arguments of the operation
// contacts_upsert_by_external_id, except that a row without an external id needs an
// address.
type Row struct {
	Email            *string        `json:"email,omitempty"`
	ExternalID       *string        `json:"external_id,omitempty"`
	RebindExternalID *bool          `json:"rebind_external_id,omitempty"`
	Attributes       map[string]any `json:"attributes,omitempty"`
	TopicPreferences topics.Choices `json:"topic_preferences,omitempty"`
	Lists            *[]string      `json:"lists,omitempty"`
	contacts.Stated
}

// Rows has the rows of a bulk write as raw JSON. An invalid row fails alone, so the JSON
// schema describes the members of a row without checking them.
type Rows []json.RawMessage

var bulkMembers = slices.Concat([]core.RowMember{
	{Name: "email", Description: "Address. Required to create a contact; with external_id, the contact's new address."},
	{Name: "external_id", Description: "Your own id of the person, unique in the organization, of 1 to 255 characters."},
	{Name: "rebind_external_id", Description: "true binds this external id to the address's contact even if that has another one."},
	{Name: "attributes", Description: "Object of values to change by attribute name; null clears one."},
	{Name: "topic_preferences", Description: "Choices to change, as an array of topic and subscription_status or as an object from topic to status."},
}, contacts.StatedMembers, []core.RowMember{
	{Name: "lists", Description: "Array of all static lists of the contact, by id or key; absent or null: unchanged."},
})

// JSONSchema returns the JSON schema of the rows.
func (Rows) JSONSchema() *jsonschema.Schema {
	return core.RowsSchema(1, MaxRows, "One contact. An invalid row becomes a failed item and does not affect other rows.", bulkMembers)
}

func (row *Row) faults() []core.FieldError {
	var faults []core.FieldError
	fault := func(field, reason string) { faults = append(faults, core.FieldError{Field: field, Reason: reason}) }
	if row.Email == nil && row.ExternalID == nil {
		fault("email", "or `external_id` is required")
	}
	if row.Email != nil {
		canonical, ok := core.CanonicalEmail(*row.Email)
		if !ok || len(*row.Email) > maxEmailLength {
			fault("email", "is not an email address")
		} else {
			row.Email = &canonical
		}
	}
	if row.ExternalID != nil {
		if n := utf8.RuneCountInString(*row.ExternalID); n < 1 || n > maxExternalID || strings.ContainsRune(*row.ExternalID, 0) {
			fault("external_id", fmt.Sprintf("must have 1 to %d characters", maxExternalID))
		}
	}
	if row.Lists != nil && len(*row.Lists) > maxRowLists {
		fault("lists", fmt.Sprintf("must have at most %d items", maxRowLists))
	}
	return append(faults, row.TopicPreferences.Faults()...)
}

// claim returns the address and the external id by which the row names its contact.
func (row Row) claim() contacts.Claim {
	var cl contacts.Claim
	if row.Email != nil {
		cl.Email = *row.Email
	}
	if row.ExternalID != nil {
		cl.ExternalID = *row.ExternalID
	}
	cl.Rebind = row.RebindExternalID != nil && *row.RebindExternalID
	return cl
}
