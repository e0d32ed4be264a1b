package storage_test

import (
	"reflect"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/storage"
)

var bundleStore = reflect.TypeFor[bundles.Store]()

// bundleCalls reads the definitions of every kind, and changes the origin of each.
func bundleCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"SetOrigins": func(t *testing.T, db *storage.DB) (any, error) {
			for _, kind := range definitions.Kinds() {
				owned := bundles.NewHeld()
				if kind != definitions.KindImage {
					must(t, db.Bundles().AddDefinitions(t.Context(), o.org, kind, owned))
				}
				var keys []string
				for _, item := range owned.Set.Items(kind) {
					keys = append(keys, item.Key)
				}
				if err := db.Bundles().SetOrigins(t.Context(), org, kind, keys, bundles.Owner{Origin: core.GitOrigin, Commit: "abc"}); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
		"SetSource": func(t *testing.T, db *storage.DB) (any, error) {
			for _, ref := range []definitions.Ref{{Kind: definitions.KindSegment, Key: o.segment.Key}, {Kind: definitions.KindWorkflow, Key: o.journey.workflow.Key}} {
				if err := db.Bundles().SetSource(t.Context(), org, ref, definitions.Source{Path: "stolen", URL: "https://stolen.example"}); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
		"AddDefinitions": func(t *testing.T, db *storage.DB) (any, error) {
			held := bundles.NewHeld()
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
