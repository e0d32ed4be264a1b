package storage_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/storage"
)

// reachAttributes reaches for the registry and the contacts that follow it.
func reachAttributes(o owned, org string) map[string]reach {
	owners := func(t *testing.T, db *storage.DB) audience.Attribute {
		t.Helper()
		all, err := db.Audience().Attributes(t.Context(), o.org)
		must(t, err)
		return all[0]
	}
	return map[string]reach{
		"Attribute": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audience().Attribute(t.Context(), org, owners(t, db).ID)
		},
		"UpdateAttribute": func(t *testing.T, db *storage.DB) (any, error) {
			stolen := owners(t, db)
			stolen.Name, stolen.Type = "stolen", audience.NumberAttribute
			return nil, db.Audience().UpdateAttribute(t.Context(), org, stolen)
		},
		"DeleteAttribute": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Audience().DeleteAttribute(t.Context(), org, owners(t, db).ID)
		},
		"AttributeValues": func(t *testing.T, db *storage.DB) (any, error) {
			found := 0
			err := db.Audience().AttributeValues(t.Context(), org, owners(t, db), func(_ any, contacts int) { found += contacts })
			return found, err
		},
		"CountAttributes": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audience().CountAttributes(t.Context(), org)
		},
		"Pass": func(t *testing.T, db *storage.DB) (any, error) {
			passed, err := db.Audience().Pass(t.Context(), org, 10)
			return passed.Changed, err
		},
	}
}
