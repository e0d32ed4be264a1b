package storage_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/storage"
)

// ownConnection connects the organization to a sending account, with a contact list.
func (o *ownedObjects) ownConnection(t *testing.T, db *storage.DB) {
	t.Helper()
	must(t, db.Connections(masterKey(t, 1)).SaveConnection(t.Context(), newConnection(o.org)))
	o.ownConsent(t, db)
}

func connectionCalls(org string) map[string]storeCall {
	return map[string]storeCall{
		"sending.Connections.Connection": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Connections(masterKey(t, 1)).Connection(t.Context(), org)
		},
		"HoldConnection": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Connections(masterKey(t, 1)).HoldConnection(t.Context(), org)
		},
		"sending.Connections.DeleteConnection": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Connections(masterKey(t, 1)).DeleteConnection(t.Context(), org)
		},
	}
}
