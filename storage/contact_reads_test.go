package storage_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// insertListed inserts a contact and returns it. The parameter on is the number of its list
// memberships; long is the length of an attribute value in bytes.
func insertListed(ctx context.Context, db *storage.DB, orgID, email string, on, long int) (contacts.Contact, error) {
	store, now, externalID := db.Contacts(), core.SystemClock(), "crm-"+email
	contact := contacts.Contact{
		ID: core.NewID(), Email: email, ExternalID: &externalID, Status: contacts.Active,
		Attributes: map[string]any{"long": strings.Repeat("x", long)}, CreatedAt: now, UpdatedAt: now,
	}
	return contact, db.InTx(ctx, func(ctx context.Context) error {
		if err := store.InsertContact(ctx, orgID, contact); err != nil {
			return err
		}
		ids := make([]string, on)
		for i := range ids {
			l := lists.List{ID: core.NewID(), Key: fmt.Sprintf("%s-%d", email, i), Name: "List", Origin: core.ManagedOrigin, Status: "active", CreatedAt: now, UpdatedAt: now}
			if err := db.Lists().InsertList(ctx, orgID, l); err != nil {
				return err
			}
			ids[i] = l.ID
		}
		_, _, err := db.ListMembers().ReplaceMembership(ctx, orgID, contact.ID, ids, now)
		return err
	})
}

// TestAContactIsReadOnceForAllItsLists checks the size of the result when one contact is
// read. A contact may have a megabyte of attributes and be on thousands of lists, so the
// result must not repeat the attributes for each list.
func TestAContactIsReadOnceForAllItsLists(t *testing.T) {
	t.Parallel()
	const lists, long = 200, 1 << 20
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org := core.NewID()
		contact, err := insertListed(t.Context(), db, org, "a@example.com", lists, long)
		if err != nil {
			t.Fatal(err)
		}
		finders := map[string]string{
			"contact by email": contact.Email, "lock contact by email": contact.Email,
			"contact by external id": *contact.ExternalID, "lock contact by external id": *contact.ExternalID,
			"contact by id": contact.ID,
		}
		for _, s := range engine.Statements() {
			key, finds := finders[s.Name()]
			if !finds {
				continue
			}
			delete(finders, s.Name())
			// an id of a list has 36 bytes
			if size := resultSize(t, db, s, org, key); size < long+lists*36 || size > long+lists*1000 {
				t.Errorf("%s: %d bytes", s.Name(), size)
			}
		}
		if len(finders) > 0 {
			t.Errorf("no such statements: %v", finders)
		}
		found, err := db.Contacts().ContactByID(t.Context(), org, contact.ID)
		if err != nil || len(found.Lists) != lists || found.Attributes["long"] != contact.Attributes["long"] {
			t.Errorf("found on %d lists: %v", len(found.Lists), err)
		}
	})
}

// resultSize runs the statement and returns the number of bytes in its result.
func resultSize(t *testing.T, db *storage.DB, s *engine.Statement, args ...any) int {
	t.Helper()
	rows, err := db.Reader().QueryContext(t.Context(), db.Dialect().Text(s.Text()), args...)
	if err != nil {
		t.Fatalf("%s: %v", s.Name(), err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	fields, into := make([]sql.RawBytes, len(names)), make([]any, len(names))
	for i := range fields {
		into[i] = &fields[i]
	}
	size := 0
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
		for _, field := range fields {
			size += len(field)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", s.Name(), err)
	}
	return size
}

// BenchmarkContactWithLists reads one contact by address, as nearly every API call does, without
// and with its details, for contacts on 0 to 1,000 lists.
func BenchmarkContactWithLists(b *testing.B) {
	eachBench(b, func(b *testing.B, db *storage.DB) {
		ctx, org := b.Context(), core.NewID()
		fill(b, db, org)
		for _, lists := range []int{0, 1, 2, 5, 1000} {
			email := fmt.Sprintf("on%d@example.com", lists)
			if _, err := insertListed(ctx, db, org, email, lists, 10); err != nil {
				b.Fatal(err)
			}
			run(b, fmt.Sprintf("on %d", lists), func(int) error {
				_, err := db.Contacts().ContactByEmail(ctx, org, email)
				return err
			})
			run(b, fmt.Sprintf("with details, on %d", lists), func(int) error {
				_, _, err := db.Contacts().LookUp(ctx, org, contacts.Key{Email: email})
				return err
			})
		}
	})
}
