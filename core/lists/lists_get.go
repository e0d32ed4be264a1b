package lists

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// GetListIn names a list.
type GetListIn struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the list, or its key."`
}

func (l *Lists) listsGet() core.Operation {
	return core.Declare(core.Op[GetListIn, List]{
		Name:    "lists_get",
		Title:   "Read a static list",
		Purpose: "Reads one static list by id or key, archived ones too. It does not return its members.",
		Example: `{"id": "newsletter"}`,
		Effect:  core.Reads,
		Cost:    core.Heavy, // counts the members of a list, which may have all contacts
		Scopes:  []core.Scope{core.ListsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in GetListIn) (List, error) {
			return l.Store.List(ctx, c.Principal.Org.ID, in.ID)
		},
	})
}
