package tags

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores tags, and which templates and broadcasts have them. Every method takes part
// in the transaction of its context, and reads and writes only the data of the given
// organization.
type Store interface {
	// Tags returns one page of tags, newest first, with their counts.
	Tags(ctx context.Context, orgID string, after *core.After, limit int) ([]Tag, error)
	// Tag returns the tag with the id. It fails with core.CodeNotFound for an unknown id.
	Tag(ctx context.Context, orgID, id string) (Tag, error)
	CountTags(ctx context.Context, orgID string) (int, error)
	// InsertTag stores a new tag; the counts of t are ignored. It fails with
	// core.CodeConflict if another tag has the name.
	InsertTag(ctx context.Context, orgID string, t Tag) error
	// UpdateTag replaces the name and the color of the tag with the id t.ID. It fails with
	// core.CodeNotFound for an unknown id, and with core.CodeConflict if another tag has the
	// name.
	UpdateTag(ctx context.Context, orgID string, t Tag) error
	// DeleteTag deletes a tag and removes it from all templates and broadcasts. It fails
	// with core.CodeNotFound for an unknown id.
	DeleteTag(ctx context.Context, orgID, id string) error
	// SetTemplateTags replaces the tags of a template by those with these ids. It skips
	// unknown ids. The template must exist.
	SetTemplateTags(ctx context.Context, orgID, templateID string, tagIDs []string) error
	// TagsOfTemplates returns the tags of templates, sorted by name, by the templates' ids.
	// A template without tags has no entry.
	TagsOfTemplates(ctx context.Context, orgID string, templateIDs []string) (map[string][]Ref, error)
	BroadcastStore
}

// BroadcastStore stores the tags of broadcasts; see [Store].
type BroadcastStore interface {
	// SetBroadcastTags replaces the tags of a broadcast by those with these ids. It skips
	// unknown ids. Call it with no ids before a broadcast is deleted.
	SetBroadcastTags(ctx context.Context, orgID, broadcastID string, tagIDs []string) error
	// TagsOfBroadcasts returns the tags of broadcasts, sorted by name, by the broadcasts'
	// ids. A broadcast without tags has no entry.
	TagsOfBroadcasts(ctx context.Context, orgID string, broadcastIDs []string) (map[string][]Ref, error)
}

// Ref is a tag of a template or a broadcast.
type Ref struct{ ID, Name, Color string }
