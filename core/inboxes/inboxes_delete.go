package inboxes

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

func (x *Inboxes) inboxesDelete() core.Operation {
	return core.Declare(core.Op[InboxIn, core.Deleted]{
		Name:    "inboxes_delete",
		Title:   "Delete an inbox",
		Purpose: "Ends a temporary inbox at once and deletes its messages. Its pull links no longer work. One that has ended already stays as it is.",
		Example: `{"id": "` + exampleID + `"}`,
		Effect:  core.Destroys,
		Scopes:  []core.Scope{core.InboxesManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      x.delete,
	})
}

func (x *Inboxes) delete(ctx context.Context, c *core.Call, in InboxIn) (core.Deleted, error) {
	found, err := x.visible(ctx, c.Principal, in.ID)
	if err != nil {
		return core.Deleted{}, err
	}
	c.SetSubject(found.ID)
	deleted, err := x.Store.DeleteInbox(ctx, found.OrgID, found.ID, c.Now)
	if err != nil || !deleted {
		return core.Deleted{Deleted: true}, err
	}
	c.Defer(func() { x.Waiting.Announce(context.WithoutCancel(ctx), found.ID) })
	return core.Deleted{Deleted: true}, x.Queue.Enqueue(ctx, PurgeArgs{})
}
