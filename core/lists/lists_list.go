package lists

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ListListsIn has the search text, the page size and the cursor for listing static lists.
type ListListsIn struct {
	Query  string `json:"query,omitempty" only:"agent" jsonschema:"maxLength=100" jsonschema_description:"Only lists with this text in their name or key, in any case. Default: all."`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" only:"rest" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (l *Lists) listsList() core.Operation {
	return core.Declare(core.Op[ListListsIn, core.Page[List]]{
		Name:  "lists_list",
		Title: "List the static lists",
		Purpose: "Lists the organization's static lists. " +
			"Use it to find a list's id. Returns keys, names and member counts, newest first. It shows no members and no segments.",
		Example: `{"limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Heavy, // counts the members of each list of the page, which may have all contacts
		Scopes:  []core.Scope{core.ListsView},
		Do:      l.listLists,
	})
}

func (l *Lists) listLists(ctx context.Context, c *core.Call, in ListListsIn) (core.Page[List], error) {
	org := c.Principal.Org.ID
	if c.Surface == core.Agent {
		return l.Search(ctx, org, in.Query, in.Cursor, in.Limit)
	}
	return l.readPage(ctx, org, in.Query, in.Cursor, in.Limit)
}
