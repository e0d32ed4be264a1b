package lists

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// ListMembersIn has the list, the size and the cursor of a page of its members.
type ListMembersIn struct {
	ID     string `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the list, or its key."`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (l *Lists) listsMembers() core.Operation {
	return core.Declare(core.Op[ListMembersIn, core.Page[Member]]{
		Name:    "lists_members",
		Title:   "List the members of a static list",
		Purpose: "Pages through the contacts on a static list, most recently added first, with whether each is mailable. It does not return their attributes or choices.",
		Example: `{"id": "newsletter", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.ListsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      l.listMembers,
	})
}

func (l *Lists) listMembers(ctx context.Context, c *core.Call, in ListMembersIn) (core.Page[Member], error) {
	org := c.Principal.Org.ID
	list, err := l.Store.List(ctx, org, in.ID)
	if err != nil {
		return core.Page[Member]{}, err
	}
	return core.ReadPage(fmt.Sprintf("list members %q", list.ID), in.Cursor, in.Limit, func(after *core.After, limit int) ([]Member, error) {
		return l.Members.ListMembers(ctx, org, list.ID, after, limit)
	}, func(m Member) core.After { return core.After{At: m.AddedAt, ID: m.ContactID} })
}
