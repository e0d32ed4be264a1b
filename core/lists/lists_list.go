package lists

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// ListListsIn has the search text, the page size and the cursor for listing static lists.
type ListListsIn struct {
	Query  string `json:"query,omitempty" only:"agent" jsonschema:"maxLength=100" jsonschema_description:"Part of a name or key, in any case."`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Page size."`
	Cursor string `json:"cursor,omitempty" only:"rest" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (l *Lists) listsList() core.Operation {
	return core.Declare(core.Op[ListListsIn, core.Page[List]]{
		Name:  "lists_list",
		Title: "List the static lists",
		Purpose: "Lists the organization's static lists. " +
			"Use it to find a list's id. Returns keys, names and member counts, newest first. It shows no members and no segments.",
		Effect: core.Reads,
		Cost:   core.Heavy,
		Scopes: []core.Scope{core.ListsView},
		Do:     l.listLists,
	})
}

func (l *Lists) listLists(ctx context.Context, c *core.Call, in ListListsIn) (core.Page[List], error) {
	org := c.Principal.Org.ID
	page, err := core.ReadPage(fmt.Sprintf("lists %q", in.Query), in.Cursor, in.Limit, func(after *core.After, limit int) ([]List, error) {
		return l.Store.Lists(ctx, org, Filter{Query: in.Query, After: after, Limit: limit})
	}, func(at List) core.After { return core.After{At: at.CreatedAt, ID: at.ID} })
	if err == nil && c.Surface == core.Agent {
		page.Total, err = l.Store.CountLists(ctx, org, in.Query)
	}
	return page, err
}
