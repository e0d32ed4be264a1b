// Package images assembles what a server needs for the images that mail shows: their operations and
// their part of bundles.
package images

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

// Definitions reads definitions for bundles. The images are those of Assets, and the other kinds
// those of Store.
type Definitions struct {
	bundles.Store
	Assets *assets.Assets
}

// AddDefinitions adds the definitions of a kind; see [bundles.Store].
func (d Definitions) AddDefinitions(ctx context.Context, orgID string, kind definitions.Kind, held *bundles.Held) error {
	if kind != definitions.KindImage {
		return d.Store.AddDefinitions(ctx, orgID, kind, held)
	}
	contents, err := d.Assets.Contents(ctx, orgID, archive.MaxContent)
	if err != nil {
		return err
	}
	versions, err := d.Assets.Hashes(ctx, orgID)
	if err != nil {
		return err
	}
	held.Set.Declared[kind] = true
	for path, content := range contents {
		held.Set.Images = append(held.Set.Images, definitions.Image{Path: path, Content: content})
		if versions[path].Origin == core.GitOrigin {
			held.FromGit[definitions.Ref{Kind: kind, Key: path}] = true
		}
	}
	held.Set.Sort()
	return nil
}
