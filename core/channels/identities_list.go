package channels

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// ListIdentitiesIn has the size and the cursor of a page of identities.
type ListIdentitiesIn struct{ PageIn }

func (c *Channels) identitiesList() core.Operation {
	return core.Declare(core.Op[ListIdentitiesIn, core.Page[Identity]]{
		Name:    "identities_list",
		Title:   "List sending identities",
		Purpose: "Pages through the domains and addresses from which the account may send, newest first, as of the last sync.",
		Example: `{"limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.IdentitiesView},
		Do: func(ctx context.Context, call *core.Call, in ListIdentitiesIn) (core.Page[Identity], error) {
			return pageOf(in.PageIn, "identities", func(after *core.After, limit int) ([]Identity, error) {
				return c.Store.Identities(ctx, call.Principal.Org.ID, after, limit)
			}, func(i Identity) core.After { return core.After{At: i.CreatedAt, ID: i.ID} })
		},
	})
}

// GetIdentityIn names an identity.
type GetIdentityIn struct {
	Identity string `json:"identity" jsonschema:"minLength=1,maxLength=320" jsonschema_description:"The domain or address; case does not matter."`
}

func (c *Channels) identitiesGet() core.Operation {
	return core.Declare(core.Op[GetIdentityIn, Identity]{
		Name:    "identities_get",
		Title:   "Read a sending identity",
		Purpose: "Reads one domain or address from which the account may send, as of the last sync.",
		Example: `{"identity": "example.com"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.IdentitiesView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, call *core.Call, in GetIdentityIn) (Identity, error) {
			return c.Store.Identity(ctx, call.Principal.Org.ID, strings.ToLower(in.Identity))
		},
	})
}
