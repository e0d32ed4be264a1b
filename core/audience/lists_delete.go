package audience

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

func (a *Audience) listsDelete() core.Operation {
	return core.Declare(core.Op[GetListIn, Deleted]{
		Name:     "lists_delete",
		Title:    "Delete a static list",
		Purpose:  "Deletes a static list and takes everybody off it; its key may be used again. A list that a repository defines is refused with `conflict`. The membership log keeps what it has, and no contact is archived.",
		Effect:   core.Destroys,
		Scopes:   []core.Scope{core.ListsManage},
		Writes:   core.ManyContacts,
		GitOwned: core.GitRefused,
		Do: func(ctx context.Context, c *core.Call, in GetListIn) (Deleted, error) {
			list, err := a.managedList(ctx, c, in.ID)
			if err != nil {
				return Deleted{}, err
			}
			org := c.Principal.Org.ID
			if err := a.redefined(ctx, org, Redefinition{GoneLists: []string{list.ID}}); err != nil {
				return Deleted{}, err
			}
			return Deleted{true}, a.Store.DeleteList(ctx, org, list.ID)
		},
	})
}
