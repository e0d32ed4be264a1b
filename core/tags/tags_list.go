package tags

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ListTagsIn has the size and the cursor of a page of tags.
type ListTagsIn struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (t *Tags) tagsList() core.Operation {
	return core.Declare(core.Op[ListTagsIn, core.Page[Tag]]{
		Name:    "tags_list",
		Title:   "List the tags",
		Purpose: "Lists the tags of templates and broadcasts, newest first, with their numbers of uses. Tags are created and set on the dashboard.",
		Example: `{"limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.TagsView},
		Do: func(ctx context.Context, c *core.Call, in ListTagsIn) (core.Page[Tag], error) {
			return t.Page(ctx, c.Principal.Org.ID, in.Cursor, in.Limit)
		},
	})
}

// Page returns a page of tags, newest first. cursor is the Next of the previous page, "" for
// the first. limit is the page size, 0 for the default. Page fails with
// core.CodeValidationFailed for the cursor of another list.
func (t *Tags) Page(ctx context.Context, orgID, cursor string, limit int) (core.Page[Tag], error) {
	return core.ReadPage("tags", cursor, limit, func(after *core.After, limit int) ([]Tag, error) {
		return t.Store.Tags(ctx, orgID, after, limit)
	}, func(tag Tag) core.After { return core.After{At: tag.CreatedAt, ID: tag.ID} })
}
