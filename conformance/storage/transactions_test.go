package storage_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestRollbackLeavesNothing(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, failed := newOrg(t, db), errors.New("by test")
		contact, list := newContact("x@x"), newList("x")
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			must(t, db.Contacts().InsertContact(ctx, org, contact))
			must(t, db.Lists().InsertList(ctx, org, list))
			_, _, err := db.ListMembers().ReplaceMembership(ctx, org, contact.ID, []string{list.ID}, start)
			must(t, err)
			_, _, err = db.Subscribers().MirrorConsent(ctx, org, []sending.Contact{{Email: "y@x"}}, start, start)
			must(t, err)
			must(t, db.Audit().AppendAudit(ctx, access.AuditEvent{ID: core.NewID(), OrgID: org, OccurredAt: start}))
			if _, err := db.Contacts().ContactByEmail(ctx, org, "y@x"); err != nil {
				t.Errorf("the transaction does not see its own write: %v", err)
			}
			if _, err := db.Contacts().ContactByEmail(t.Context(), org, "y@x"); err == nil {
				t.Error("another reader sees what is not committed")
			}
			return failed
		})
		if !errors.Is(err, failed) {
			t.Errorf("InTx returned %v", err)
		}
		for _, email := range []string{"x@x", "y@x"} {
			_, err := db.Contacts().ContactByEmail(t.Context(), org, email)
			wantCode(t, email, err, core.CodeNotFound)
		}
		if n, err := db.Lists().CountLists(t.Context(), org, ""); err != nil || n != 0 {
			t.Errorf("%d lists, %v", n, err)
		}
		if events, err := db.Audit().FindAudit(t.Context(), org, access.AuditFilter{Limit: 1}); err != nil || len(events) != 0 {
			t.Errorf("%d audit events, %v", len(events), err)
		}
	})
}

func TestNestedTransactionsJoin(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, failed := newOrg(t, db), errors.New("by test")
		insert := func(email string) func(context.Context) error {
			return func(ctx context.Context) error { return db.Contacts().InsertContact(ctx, org, newContact(email)) }
		}
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			if err := db.InTx(ctx, insert("inner@x")); err != nil {
				return err
			}
			return failed
		})
		if !errors.Is(err, failed) {
			t.Errorf("InTx returned %v", err)
		}
		_, err = db.Contacts().ContactByEmail(t.Context(), org, "inner@x")
		wantCode(t, "the inner write after the outer rollback", err, core.CodeNotFound)

		must(t, db.InTx(t.Context(), func(ctx context.Context) error { return db.InTx(ctx, insert("both@x")) }))
		if _, err := db.Contacts().ContactByEmail(t.Context(), org, "both@x"); err != nil {
			t.Error(err)
		}
	})
}

// TestConcurrentTransactionsAllCommit checks that 50 concurrent transactions all commit,
// although each one reads before it writes.
func TestConcurrentTransactionsAllCommit(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		const writers = 50
		org := newOrg(t, db)
		for _, err := range atOnce(writers, func(i int) error {
			return db.InTx(t.Context(), func(ctx context.Context) error {
				c := newContact(string(rune('a'+i%26)) + core.NewID() + "@x")
				if _, err := db.Contacts().ContactByEmail(ctx, org, c.Email); err == nil {
					return errors.New("found before it was written")
				}
				if err := db.Contacts().InsertContact(ctx, org, c); err != nil {
					return err
				}
				return db.Audit().AppendAudit(ctx, access.AuditEvent{ID: core.NewID(), OrgID: org, OccurredAt: later(i)})
			})
		}) {
			must(t, err)
		}
		if events, err := db.Audit().FindAudit(t.Context(), org, access.AuditFilter{Limit: 2 * writers}); err != nil || len(events) != writers {
			t.Errorf("%d audit events, %v; want %d", len(events), err, writers)
		}
	})
}

func TestRestartKeepsData(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		restart(t, storage.Config{Dir: t.TempDir()})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		restart(t, storage.Config{URL: enginetest.PostgresURL(t), MaxConns: 4})
	})
}

func restart(t *testing.T, c storage.Config) {
	t.Helper()
	first, err := storage.Open(t.Context(), c)
	must(t, err)
	must(t, first.Migrate(t.Context()))
	org := newOrg(t, first)
	must(t, first.Contacts().InsertContact(t.Context(), org, newContact("kept@x")))
	must(t, first.Close())

	second := storagetest.Open(t, c)
	must(t, second.Migrate(t.Context()))
	if _, err := second.Contacts().ContactByEmail(t.Context(), org, "kept@x"); err != nil {
		t.Error(err)
	}
}
