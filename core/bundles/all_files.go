package bundles

import (
	"context"

	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
)

// Files returns a function that returns the files of a bundle with the definitions of an
// organization, by path, without images.
func Files(store Store) func(ctx context.Context, orgID string) (map[string][]byte, error) {
	return func(ctx context.Context, orgID string) (map[string][]byte, error) {
		held := NewHeld()
		for _, part := range parts() {
			if part.kind == definitions.KindImage {
				continue
			}
			if err := store.AddDefinitions(ctx, orgID, part.kind, held); err != nil {
				return nil, err
			}
		}
		return manifest.Write(&held.Set), nil
	}
}
