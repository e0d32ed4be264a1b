package audience

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

func (a *Audience) listsDelete() core.Operation {
	return core.Declare(core.Op[GetListIn, core.Deleted]{
		Name:     "lists_delete",
		Title:    "Delete a static list",
		Purpose:  "Deletes a static list and takes everybody off it; its key may be used again. A list that a repository defines is refused with `conflict`. The membership log keeps what it has, and no contact is archived.",
		Effect:   core.Destroys,
		Scopes:   []core.Scope{core.ListsManage},
		Writes:   core.ManyContacts,
		GitOwned: core.GitRefused,
		Do: func(ctx context.Context, c *core.Call, in GetListIn) (core.Deleted, error) {
			list, err := a.managedList(ctx, c, in.ID)
			if err != nil {
				return core.Deleted{}, err
			}
			org := c.Principal.Org.ID
			if err := a.deletesList(ctx, org, list.ID); err != nil {
				return core.Deleted{}, err
			}
			return core.Deleted{Deleted: true}, a.Store.DeleteList(ctx, org, list.ID)
		},
	})
}

// deletesList reports that the list is about to be deleted.
func (a *Audience) deletesList(ctx context.Context, orgID, listID string) error {
	if a.DeletesLists == nil {
		return nil
	}
	return a.DeletesLists(ctx, orgID, []string{listID})
}
