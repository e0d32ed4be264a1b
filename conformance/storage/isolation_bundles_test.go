package storage_test

import (
	"reflect"
	"testing"

	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/storage"
)

var bundleStore = reflect.TypeFor[bundles.Store]()

// bundleCalls reads the definitions of every kind.
func bundleCalls(org string) map[string]storeCall {
	return map[string]storeCall{
		"AddDefinitions": func(t *testing.T, db *storage.DB) (any, error) {
			held := &bundles.Held{Set: definitions.Set{Declared: map[definitions.Kind]bool{}}, FromGit: map[definitions.Ref]bool{}}
			var found []definitions.Item
			for _, kind := range definitions.Kinds() {
				if kind == definitions.KindImage {
					continue
				}
				if err := db.Bundles().AddDefinitions(t.Context(), org, kind, held); err != nil {
					return nil, err
				}
				found = append(found, held.Set.Items(kind)...)
			}
			return found, nil
		},
	}
}
