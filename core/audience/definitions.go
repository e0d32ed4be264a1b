package audience

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// List is a static list: contacts are put on it and taken off it by hand.
type List struct {
	ID          string      `json:"id" jsonschema:"format=uuid"`
	Key         string      `json:"key" voice:"untrusted" jsonschema_description:"Slug that is unique in the organization and never changes."`
	Name        string      `json:"name" voice:"untrusted"`
	Description string      `json:"description" voice:"untrusted"`
	Source      string      `json:"source" jsonschema:"enum=api,enum=ui,enum=import,enum=topic_export"`
	MemberCount int         `json:"member_count"`
	Origin      core.Origin `json:"origin" jsonschema:"enum=managed,enum=git"`
	SourcePath  string      `json:"source_path,omitempty" voice:"untrusted" jsonschema_description:"Where a list from a repository is defined."`
	Status      string      `json:"status" jsonschema:"enum=active,enum=archived"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
}

// Topic is a subject contacts subscribe to, as the account defines it and the
// mirror dates it.
type Topic struct {
	Name        string               `json:"name" voice:"untrusted"`
	DisplayName string               `json:"display_name" voice:"untrusted"`
	Description string               `json:"description" voice:"untrusted"`
	Default     sending.Subscription `json:"default_subscription_status" jsonschema:"enum=OPT_IN,enum=OPT_OUT"`
	Origin      core.Origin          `json:"origin" jsonschema:"enum=managed,enum=git"`
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
