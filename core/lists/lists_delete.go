package lists

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

func (l *Lists) listsDelete() core.Operation {
	return core.Declare(core.Op[GetListIn, core.Deleted]{
		Name:     "lists_delete",
		Title:    "Delete a static list",
		Purpose:  "Deletes a static list and removes its members from it; its key may be used again. A list that a repository defines is refused with `conflict`. The membership log stays, and no contact is archived.",
		Example:  `{"id": "app-testers"}`,
		Effect:   core.Destroys,
		Scopes:   []core.Scope{core.ListsManage},
		Fails:    []core.Code{core.CodeNotFound},
		Writes:   core.ManyContacts,
		GitOwned: core.GitRefused,
		Do: func(ctx context.Context, c *core.Call, in GetListIn) (core.Deleted, error) {
			list, err := l.readManaged(ctx, c, in.ID)
			if err != nil {
				return core.Deleted{}, err
			}
			org := c.Principal.Org.ID
			if l.Deletes != nil {
				if err := l.Deletes(ctx, org, []string{list.ID}); err != nil {
					return core.Deleted{}, err
				}
			}
			return core.Deleted{Deleted: true}, l.Store.DeleteList(ctx, org, list.ID)
		},
	})
}
