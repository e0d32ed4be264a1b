package inboxes

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ListInboxesIn has the filters for listing inboxes.
type ListInboxesIn struct {
	Status     Status `json:"status,omitempty" jsonschema:"enum=active,enum=expired,enum=deleted" jsonschema_description:"Only inboxes in this state. Default: all of the last 30 days."`
	AccountRef string `json:"account_ref,omitempty" jsonschema:"maxLength=128" jsonschema_description:"Only inboxes with exactly this account_ref, in the same case."`
	Scope      string `json:"scope,omitempty" jsonschema:"enum=mine,enum=org,default=mine" jsonschema_description:"mine: inboxes that you created. org: also those that others share with the organization."`
	Limit      int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of inboxes in the answer."`
}

// defaultLimit is the number of inboxes in a list without limit.
const defaultLimit = 50

func (x *Inboxes) inboxesList() core.Operation {
	return core.Declare(core.Op[ListInboxesIn, core.Collection[Record]]{
		Name:    "inboxes_list",
		Title:   "List inboxes",
		Purpose: "Lists temporary inboxes, newest first, also those that ended within 30 days. It shows no messages and no secrets of pull links.",
		Example: `{"status": "active"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.InboxesView},
		Do: func(ctx context.Context, c *core.Call, in ListInboxesIn) (core.Collection[Record], error) {
			if in.Limit == 0 {
				in.Limit = defaultLimit
			}
			found, err := x.Store.Inboxes(ctx, c.Principal.Org.ID, Filter{
				Owner: c.Principal.Owner(), Shared: in.Scope == "org", AccountRef: in.AccountRef, Status: in.Status, Now: c.Now, Limit: in.Limit,
			})
			records := make([]Record, len(found))
			for n, i := range found {
				records[n] = x.recordOf(i, c.Now)
			}
			return core.Collection[Record]{Data: records}, err
		},
	})
}

// InboxIn names an inbox.
type InboxIn struct {
	ID string `json:"id" jsonschema:"maxLength=64" jsonschema_description:"Id of the inbox."`
}

func (x *Inboxes) inboxesGet() core.Operation {
	return core.Declare(core.Op[InboxIn, Record]{
		Name:    "inboxes_get",
		Title:   "Read an inbox",
		Purpose: "Reads a temporary inbox and its counts, until 30 days after its end. It shows no messages.",
		Example: `{"id": "` + exampleID + `"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.InboxesView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in InboxIn) (Record, error) {
			found, err := x.visible(ctx, c.Principal, in.ID)
			if err != nil {
				return Record{}, err
			}
			return x.recordOf(found, c.Now), nil
		},
	})
}
