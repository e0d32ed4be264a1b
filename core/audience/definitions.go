package audience

import (
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Origin says where a definition is edited.
type Origin string

// The origins of a definition. Git definitions are read-only here.
const (
	Managed Origin = "managed"
	Git     Origin = "git"
)

// List is a static list: contacts are put on it and taken off it by hand.
type List struct {
	ID          string    `json:"id" jsonschema:"format=uuid"`
	Key         string    `json:"key" voice:"untrusted" jsonschema_description:"Slug that is unique in the organization and never changes."`
	Name        string    `json:"name" voice:"untrusted"`
	Description string    `json:"description" voice:"untrusted"`
	Source      string    `json:"source" jsonschema:"enum=api,enum=ui,enum=import,enum=topic_export"`
	MemberCount int       `json:"member_count"`
	Origin      Origin    `json:"origin" jsonschema:"enum=managed,enum=git"`
	SourcePath  string    `json:"source_path,omitempty" voice:"untrusted" jsonschema_description:"Where a list from a repository is defined."`
	Status      string    `json:"status" jsonschema:"enum=active,enum=archived"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Attribute is one entry of the registry of contact attributes.
type Attribute struct {
	ID          string        `json:"id" jsonschema:"format=uuid"`
	Name        string        `json:"name" voice:"untrusted" jsonschema_description:"Lower-case identifier; predicates write it as attr.name."`
	Type        AttributeType `json:"type" jsonschema:"enum=string,enum=number,enum=bool,enum=datetime,enum=enum"`
	EnumValues  []string      `json:"enum_values,omitempty" voice:"untrusted" jsonschema_description:"The values an enum may have."`
	Description string        `json:"description,omitempty" voice:"untrusted"`
	Origin      Origin        `json:"origin" jsonschema:"enum=managed,enum=git"`
	CreatedAt   time.Time     `json:"created_at"`
	UpdatedAt   time.Time     `json:"updated_at"`
	// Slot is the column of the slots that holds the values as well, "" when only
	// the contact's record does. The store assigns it.
	Slot string `json:"-"`
}

// AttributeType is the type of an attribute's values.
type AttributeType string

// The attribute types.
const (
	StringAttribute   AttributeType = "string"
	NumberAttribute   AttributeType = "number"
	BoolAttribute     AttributeType = "bool"
	DatetimeAttribute AttributeType = "datetime"
	EnumAttribute     AttributeType = "enum"
)

// Topic is a subject contacts subscribe to, as the account defines it and the
// mirror dates it.
type Topic struct {
	Name        string               `json:"name" voice:"untrusted"`
	DisplayName string               `json:"display_name" voice:"untrusted"`
	Description string               `json:"description" voice:"untrusted"`
	Default     sending.Subscription `json:"default_subscription_status" jsonschema:"enum=OPT_IN,enum=OPT_OUT"`
	Origin      Origin               `json:"origin" jsonschema:"enum=managed,enum=git"`
	Status      string               `json:"status" jsonschema:"enum=active,enum=archived"`
	CreatedAt   time.Time            `json:"created_at"`
	UpdatedAt   time.Time            `json:"updated_at"`
}

// ContactList is the mirror's memory of the account's contact list. It exists
// once the first sync has finished.
type ContactList struct {
	Name         string
	Description  string
	LastSyncedAt time.Time
	CreatedAt    time.Time
	UpdatedAt    time.Time
}
