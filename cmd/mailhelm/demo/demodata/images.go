package demodata

import (
	"context"
	"embed"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/assets"
)

// static has the images of the demo, which were drawn for it.
//
//go:embed static
var static embed.FS

// images stores images.
type images struct{ assets *assets.Assets }

// add stores the images of the demo, as a bundle would.
func (i images) add(ctx context.Context, orgID string) error {
	entries, err := static.ReadDir("static")
	if err != nil {
		return err
	}
	all := make([]assets.Image, 0, len(entries))
	for _, e := range entries {
		path := "static/" + e.Name()
		content, err := static.ReadFile(path)
		if err != nil {
			return err
		}
		all = append(all, assets.Image{Path: path, Content: content, Origin: core.ManagedOrigin})
	}
	return i.assets.Put(ctx, orgID, all)
}
