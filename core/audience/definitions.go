package audience

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
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
