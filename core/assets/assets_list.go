package assets

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ListAssetsIn has the size and the cursor of a page of images.
type ListAssetsIn struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (a *Assets) assetsList() core.Operation {
	return core.Declare(core.Op[ListAssetsIn, core.Page[Asset]]{
		Name:    "assets_list",
		Title:   "List the images",
		Purpose: "Lists the images that templates show, in the order of their paths, without archived ones. Images come from bundles and from the connected repository; there is no other way to upload one.",
		Example: `{"limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.AssetsView},
		Do: func(ctx context.Context, c *core.Call, in ListAssetsIn) (core.Page[Asset], error) {
			page, err := a.Page(ctx, c.Principal.Org.ID, in.Cursor, in.Limit)
			assets := make([]Asset, len(page.Items))
			for i, d := range page.Items {
				assets[i] = d.Asset
			}
			return core.Page[Asset]{Items: assets, Next: page.Next}, err
		},
	})
}

// Page returns a page of active images, in the order of their paths. cursor is the Next of the previous
// page, "" for the first. limit is the page size, 0 for the default. Page fails with
// core.CodeValidationFailed for the cursor of another list.
func (a *Assets) Page(ctx context.Context, orgID, cursor string, limit int) (core.Page[Detail], error) {
	// The cursor has the id, because a path can be longer than a cursor. Records are never deleted.
	keys, err := core.DecodeCursor("assets", cursor, 1)
	if err != nil {
		return core.Page[Detail]{}, err
	}
	after := ""
	if keys != nil {
		after = keys[0]
	}
	limit = core.Limit(limit)
	rows, err := a.Store.AssetsPage(ctx, orgID, after, limit+1)
	if err != nil {
		return core.Page[Detail]{}, err
	}
	for i := range rows {
		rows[i].URL = a.addressOf(rows[i].ContentHash, rows[i].SourcePath)
	}
	if len(rows) <= limit {
		return core.Page[Detail]{Items: rows}, nil
	}
	return core.Page[Detail]{Items: rows[:limit], Next: core.EncodeCursor("assets", rows[limit-1].ID)}, nil
}
