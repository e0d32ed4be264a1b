package broadcasts

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// ListBroadcastsIn has the filters, the page size and the cursor for listing broadcasts.
type ListBroadcastsIn struct {
	Tag      string `json:"tag,omitempty" jsonschema:"maxLength=100" jsonschema_description:"Only broadcasts with exactly this tag. Default: all."`
	Untagged bool   `json:"untagged,omitempty" jsonschema_description:"Only broadcasts without a tag. Excludes tag."`
	Limit    int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor   string `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (b *Broadcasts) broadcastsList() core.Operation {
	return core.Declare(core.Op[ListBroadcastsIn, core.Page[Record]]{
		Name:           "broadcasts_list",
		Title:          "List broadcasts",
		Purpose:        "Lists the organization's broadcasts, newest first. It shows no recipients.",
		Example:        `{"limit": 2}`,
		Effect:         core.Reads,
		Cost:           core.Light,
		Scopes:         []core.Scope{core.BroadcastsView},
		ArgumentScopes: map[string]core.Scope{"tag": core.TagsView, "untagged": core.TagsView},
		Do: func(ctx context.Context, c *core.Call, in ListBroadcastsIn) (core.Page[Record], error) {
			if err := checkTagFilter(c, in); err != nil {
				return core.Page[Record]{}, err
			}
			return b.page(ctx, c.Principal.Org.ID, Filter{Tag: in.Tag, Untagged: in.Untagged, Limit: in.Limit}, in.Cursor)
		},
	})
}

// checkTagFilter refuses filters by tag that exclude each other, or that the caller may not
// use.
func checkTagFilter(c *core.Call, in ListBroadcastsIn) error {
	if in.Tag != "" && in.Untagged {
		return core.Invalid("untagged", "excludes `tag`")
	}
	may := c.Principal.Scopes.Has(core.TagsView)
	switch {
	case in.Tag != "" && !may:
		return core.MissingScope(c, "tag", core.TagsView)
	case in.Untagged && !may:
		return core.MissingScope(c, "untagged", core.TagsView)
	}
	return nil
}

// page returns a page of broadcasts.
func (b *Broadcasts) page(ctx context.Context, orgID string, f Filter, cursor string) (core.Page[Record], error) {
	filter := fmt.Sprintf("broadcasts %q %q %q %v", f.Query, f.State, f.Tag, f.Untagged)
	read := func(after *core.After, limit int) ([]Record, error) {
		f.After, f.Limit = after, limit
		rows, err := b.Store.Broadcasts(ctx, orgID, f)
		records := make([]Record, len(rows))
		ids := make([]string, len(rows))
		for i, row := range rows {
			records[i], ids[i] = recordOf(row), row.ID
		}
		if err != nil {
			return nil, err
		}
		approvals, err := b.approvalsOf(ctx, orgID, ids)
		for i, id := range ids {
			if a, has := approvals[id]; has {
				records[i].Approval = &a
			}
		}
		return records, err
	}
	return core.ReadPage(filter, cursor, f.Limit, read, func(r Record) core.After { return core.After{At: r.CreatedAt, ID: r.ID} })
}

// Search returns a page of the broadcasts that the filter selects, with f.Limit of them.
// cursor is the Next of the previous page, "" for the first; f.After is not read. Search
// fails with core.CodeValidationFailed for the cursor of another search. Pages of the
// dashboard call it.
func (b *Broadcasts) Search(ctx context.Context, orgID string, f Filter, cursor string) (core.Page[Record], error) {
	return b.page(ctx, orgID, f, cursor)
}
