package storage_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/storage"
)

// attributeCalls returns calls of the attribute stores, including those that change
// attribute values of contacts. The organization org makes them with the objects of another
// organization, o.
func attributeCalls(o ownedObjects, org string) map[string]storeCall {
	owners := func(t *testing.T, db *storage.DB) attributes.Attribute {
		t.Helper()
		all, err := db.Attributes().Attributes(t.Context(), o.org)
		must(t, err)
		return all[0]
	}
	return map[string]storeCall{
		"Attribute": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Attributes().Attribute(t.Context(), org, owners(t, db).ID)
		},
		"AttributesNamed": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Attributes().AttributesNamed(t.Context(), org, []string{owners(t, db).Name})
		},
		"UpdateAttribute": func(t *testing.T, db *storage.DB) (any, error) {
			stolen := owners(t, db)
			stolen.Name, stolen.Type = "stolen", attributes.Number
			return nil, db.Attributes().UpdateAttribute(t.Context(), org, stolen)
		},
		"DeleteAttribute": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Attributes().DeleteAttribute(t.Context(), org, owners(t, db).ID)
		},
		"AttributeValues": func(t *testing.T, db *storage.DB) (any, error) {
			found := 0
			err := db.Attributes().AttributeValues(t.Context(), org, owners(t, db), func(_ any, contacts int) { found += contacts })
			return found, err
		},
		"CountAttributes": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Attributes().CountAttributes(t.Context(), org)
		},
		"Pass": func(t *testing.T, db *storage.DB) (any, error) {
			passed, err := db.AttributePasses().Pass(t.Context(), org, 10)
			return passed.Changed, err
		},
	}
}
