package lists

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// List is a static list of contacts. Contacts join and leave it through explicit calls.
type List struct {
	ID          string      `json:"id" jsonschema:"format=uuid"`
	Key         string      `json:"key" voice:"untrusted" jsonschema_description:"Slug that is unique in the organization and never changes."`
	Name        string      `json:"name" voice:"untrusted"`
	Description string      `json:"description" voice:"untrusted"`
	Source      string      `json:"source" jsonschema:"enum=api,enum=ui,enum=import,enum=topic_export"`
	MemberCount int         `json:"member_count"`
	Origin      core.Origin `json:"origin" jsonschema:"enum=managed,enum=git"`
	SourcePath  string      `json:"source_path,omitempty" voice:"untrusted" jsonschema_description:"Place of the definition, for a list from a repository."`
	Status      string      `json:"status" jsonschema:"enum=active,enum=archived"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
}

// The statuses of a list. An archived one keeps its members and its key, and can be neither named nor
// joined until it is defined again.
const (
	statusActive   = "active"
	statusArchived = "archived"
)

// Ref identifies a static list that a contact is on.
type Ref struct {
	ID   string `json:"id" jsonschema:"format=uuid"`
	Key  string `json:"key" voice:"untrusted"`
	Name string `json:"name" voice:"untrusted"`
}

// Member is a contact on a static list.
type Member struct {
	ContactID string    `json:"contact_id" jsonschema:"format=uuid"`
	Email     string    `json:"email" voice:"untrusted"`
	Mailable  bool      `json:"mailable" jsonschema_description:"Whether the contact may get mail at all."`
	AddedAt   time.Time `json:"added_at"`
}
