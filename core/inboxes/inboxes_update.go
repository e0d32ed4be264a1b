package inboxes

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// UpdateInboxIn has the changes to an inbox. Absent members stay.
type UpdateInboxIn struct {
	ID         string      `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the inbox."`
	Label      *string     `json:"label,omitempty" jsonschema:"maxLength=80" jsonschema_description:"Your name for the inbox; an empty text removes it."`
	Visibility *Visibility `json:"visibility,omitempty" jsonschema:"enum=private,enum=org" jsonschema_description:"private: only its creator sees it. org: the whole organization does."`
}

func (x *Inboxes) inboxesUpdate() core.Operation {
	return core.Declare(core.Op[UpdateInboxIn, Record]{
		Name:    "inboxes_update",
		Title:   "Change an inbox",
		Purpose: "Changes the label or the visibility of a temporary inbox. It does not change how long it lives or who may send.",
		Example: `{"id": "` + exampleID + `", "visibility": "org"}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.InboxesManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in UpdateInboxIn) (Record, error) {
			found, err := x.visible(ctx, c.Principal, in.ID)
			if err != nil {
				return Record{}, err
			}
			if in.Label != nil {
				found.Label = *in.Label
			}
			if err := checkLabel(found.Label); err != nil {
				return Record{}, err
			}
			if in.Visibility != nil {
				found.Visibility = *in.Visibility
			}
			c.SetSubject(found.ID)
			return x.recordOf(found, c.Now), x.Store.SetLabel(ctx, found.OrgID, found.ID, found.Label, found.Visibility)
		},
	})
}
