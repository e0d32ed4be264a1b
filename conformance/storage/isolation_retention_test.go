package storage_test

import (
	"reflect"
	"testing"

	"github.com/mailhelm/mailhelm/core/retention"
	"github.com/mailhelm/mailhelm/storage"
	retentionstore "github.com/mailhelm/mailhelm/storage/retention"
)

var retentionStore = reflect.TypeFor[retention.Store]()

// ownRetention sets a period of the organization.
func (o ownedObjects) ownRetention(t *testing.T, db *storage.DB) {
	t.Helper()
	days := 100
	must(t, retentionstore.New(db.DB).SetDays(t.Context(), o.org, retention.AuditLog, &days, start))
}

// retentionState returns the organization's periods, and figures of its records.
func (o ownedObjects) retentionState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	store := retentionstore.New(db.DB)
	states, err := store.States(t.Context(), o.org)
	must(t, err)
	seen := []any{states}
	for _, k := range retention.Kinds() {
		figures, err := store.Figures(t.Context(), o.org, k.Name, later(9))
		must(t, err)
		seen = append(seen, figures)
	}
	return seen
}

func retentionCalls(org string) map[string]storeCall {
	return map[string]storeCall{
		"States": func(t *testing.T, db *storage.DB) (any, error) {
			return retentionstore.New(db.DB).States(t.Context(), org)
		},
		"Figures": func(t *testing.T, db *storage.DB) (any, error) {
			return retentionstore.New(db.DB).Figures(t.Context(), org, retention.MembershipLog, later(9))
		},
		"DeleteOld": func(t *testing.T, db *storage.DB) (any, error) {
			return retentionstore.New(db.DB).DeleteOld(t.Context(), org, retention.MembershipLog, later(9), 100)
		},
		"ArchivedContacts": func(t *testing.T, db *storage.DB) (any, error) {
			return retentionstore.New(db.DB).ArchivedContacts(t.Context(), org, later(9), nil, 100)
		},
		"SetDays": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, retentionstore.New(db.DB).SetDays(t.Context(), org, retention.AuditLog, nil, later(1))
		},
		"NoteRun": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, retentionstore.New(db.DB).NoteRun(t.Context(), org, retention.AuditLog, later(1), 5)
		},
	}
}
