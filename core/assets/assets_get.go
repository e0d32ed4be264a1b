package assets

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// GetAssetIn names an image.
type GetAssetIn struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the image."`
}

func (a *Assets) assetsGet() core.Operation {
	return core.Declare(core.Op[GetAssetIn, Detail]{
		Name:    "assets_get",
		Title:   "Read an image",
		Purpose: "Reads the record of one image by id, with the branch that it comes from. It does not return the content, which is at the public address, and finds no archived images.",
		Example: `{"id": "0198c7a2-5d3e-7a01-8b00-2f61c0d4a107"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.AssetsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in GetAssetIn) (Detail, error) {
			found, err := a.Store.Asset(ctx, c.Principal.Org.ID, in.ID)
			found.URL = a.addressOf(found.ContentHash, found.SourcePath)
			return found, err
		},
	})
}
