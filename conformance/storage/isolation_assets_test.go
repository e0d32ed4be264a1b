package storage_test

import (
	"reflect"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/storage"
)

var assetStore = reflect.TypeFor[assets.Store]()

// contentOf returns a content of the organization.
func contentOf(hash string) assets.Content {
	return assets.Content{Hash: hash, Type: "image/png", SizeBytes: 1, StoreID: "files", CreatedAt: start}
}

// ownAssets gives the organization an image. Its path and its hash are the same in all organizations.
func (o *ownedObjects) ownAssets(t *testing.T, db *storage.DB) {
	t.Helper()
	o.image = assets.Saved{ID: core.NewID(), Path: "same.png", Hash: "same", Branch: "main", Origin: core.GitOrigin}
	must(t, db.Assets().AddContents(t.Context(), o.org, []assets.Content{contentOf("same")}))
	must(t, db.Assets().SaveAssets(t.Context(), o.org, []assets.Saved{o.image}, start))
}

// assetState returns the images of the organization.
func (o ownedObjects) assetState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	var seen []any
	for _, method := range []string{"Contents", "Asset", "AssetsPage", "CurrentAssets", "AssetsAt"} {
		found, err := assetCalls(o, o.org)[method](t, db)
		must(t, err)
		seen = append(seen, found)
	}
	return seen
}

func assetCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"Contents": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Assets().Contents(t.Context(), org, []string{"same"})
		},
		"AddContents": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Assets().AddContents(t.Context(), org, []assets.Content{contentOf("stolen")})
		},
		"SaveAssets": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Assets().SaveAssets(t.Context(), org, []assets.Saved{{ID: o.image.ID, Path: "stolen.png", Hash: "stolen"}}, start)
		},
		"ArchiveAssets": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Assets().ArchiveAssets(t.Context(), org, []string{o.image.Path}, start)
		},
		"AssetsPage": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Assets().AssetsPage(t.Context(), org, "", 10)
		},
		"Asset": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Assets().Asset(t.Context(), org, o.image.ID)
		},
		"CurrentAssets": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Assets().CurrentAssets(t.Context(), org)
		},
		"AssetsAt": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Assets().AssetsAt(t.Context(), org, []string{o.image.Path})
		},
	}
}
