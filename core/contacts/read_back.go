package contacts

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ReadBack has the members of a contact that reads return and writes do not set. A PUT
// accepts them, so that a caller can change the body of a GET and send it back. They must
// equal those of the stored contact, except for derived members, which are ignored.
type ReadBack struct {
	ID        string        `json:"id,omitempty" jsonschema:"format=uuid" jsonschema_description:"As a read returned it; another id is refused."`
	Status    ContactStatus `json:"status,omitempty" jsonschema:"enum=active,enum=archived" jsonschema_description:"active, which the contact is after the write; archived is refused."`
	Mailable  *bool         `json:"mailable,omitempty" jsonschema:"nullable" jsonschema_description:"Ignored, because it is derived."`
	CreatedAt *time.Time    `json:"created_at,omitempty" jsonschema:"nullable" jsonschema_description:"As a read returned it; another time is refused."`
	UpdatedAt *time.Time    `json:"updated_at,omitempty" jsonschema:"nullable" jsonschema_description:"Ignored, because it is derived."`

	// externalID is the external_id that the caller sent back in a write that names the
	// contact by address.
	externalID *string
}

// differences returns a fault for an id, a creation time or an external id in r that
// differs from the stored contact, and for the status archived. existing is nil if the
// write creates the contact.
func (r ReadBack) differences(existing *Contact) []core.FieldError {
	var faults []core.FieldError
	fault := func(field, reason string) { faults = append(faults, core.FieldError{Field: field, Reason: reason}) }
	switch {
	case r.ID == "":
	case existing == nil:
		fault("id", "is not allowed for a new contact, which gets its own id; leave it out")
	case r.ID != existing.ID:
		fault("id", "is not the id of this contact, which never changes; leave it out")
	}
	if r.Status == Archived {
		fault("status", "is archived, but this write makes the contact active; send active or leave it out, and archive with DELETE")
	}
	switch {
	case r.CreatedAt == nil:
	case existing == nil:
		fault("created_at", "is not allowed for a new contact, which gets the time of this call; leave it out")
	case !r.CreatedAt.Equal(existing.CreatedAt):
		fault("created_at", "is not the time at which this contact was created, which never changes; leave it out")
	}
	if r.externalID != nil && (existing == nil || existing.ExternalID == nil || *existing.ExternalID != *r.externalID) {
		fault("external_id", "is not the external id of this contact; leave it out, or give it one with PUT /v1/contacts/by-external-id/{external_id}")
	}
	return faults
}

// check fails with validation_failed if differences finds a fault in r. The error names
// each such member.
func (r ReadBack) check(existing *Contact) error {
	faults := r.differences(existing)
	if faults == nil {
		return nil
	}
	return core.InvalidFields(faults...)
}
