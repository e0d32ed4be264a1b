package broadcasts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// DeleteBroadcastIn names a broadcast.
type DeleteBroadcastIn struct {
	ID string `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the broadcast."`
}

func (b *Broadcasts) broadcastsDelete() core.Operation {
	return core.Declare(core.Op[DeleteBroadcastIn, core.Deleted]{
		Name:    "broadcasts_delete",
		Title:   "Delete a broadcast",
		Purpose: "Deletes a broadcast and its results. One that sends is refused with `validation_failed`. The messages and their events stay.",
		Example: `{"id": "` + exampleID + `"}`,
		Effect:  core.Destroys,
		Scopes:  []core.Scope{core.BroadcastsManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      b.delete,
	})
}

func (b *Broadcasts) delete(ctx context.Context, c *core.Call, in DeleteBroadcastIn) (core.Deleted, error) {
	org := c.Principal.Org.ID
	found, err := b.Store.Broadcast(ctx, org, in.ID)
	if err != nil {
		return core.Deleted{}, err
	}
	if found.State == Sending {
		return core.Deleted{}, core.Invalid("id", "names a broadcast that sends; wait until it has ended, or pause it on the dashboard")
	}
	c.SetSubject(found.ID)
	if err := b.void(ctx, org, found.ID, VoidedByDelete, c.Now); err != nil {
		return core.Deleted{}, err
	}
	return core.Deleted{Deleted: true}, b.Store.Delete(ctx, org, found.ID)
}
