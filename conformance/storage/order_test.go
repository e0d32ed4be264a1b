package storage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// orderIDs are ids that sort differently by bytes than by the rules of a language. They
// have digits, both letter cases, non-ASCII letters, and punctuation that collations
// ignore.
var orderIDs = []string{"a", "B", "b", "A", "ä", "z", "Z", "-a", "_a", "10", "9", "a b", "ab", "é", "日本"}

// TestPagesComeInTheSameOrderOnBothEngines checks that rows with equal creation times are
// ordered by the bytes of their ids, and not by a collation, which could differ between
// SQLite and PostgreSQL.
func TestPagesComeInTheSameOrderOnBothEngines(t *testing.T) {
	t.Parallel()
	want := slices.Clone(orderIDs)
	slices.SortFunc(want, func(a, b string) int { return strings.Compare(b, a) })
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Contacts(), newOrg(t, db)
		for i, id := range orderIDs {
			c, l := newContact(fmt.Sprintf("%d@x", i)), newList(id)
			a := attributes.Attribute{ID: id, Name: id, Type: attributes.String, Origin: core.ManagedOrigin, CreatedAt: start, UpdatedAt: start}
			c.ID, l.ID = id, id
			must(t, store.InsertContact(ctx, org, c))
			must(t, db.Lists().InsertList(ctx, org, l))
			must(t, db.Attributes().InsertAttribute(ctx, org, a))
		}
		for what, page := range map[string]func(after *core.After) ([]string, error){
			"contacts": func(after *core.After) ([]string, error) {
				rows, err := store.Contacts(ctx, org, contacts.ContactFilter{After: after, Limit: 2})
				return ids(rows, func(c contacts.Contact) string { return c.ID }), err
			},
			"lists": func(after *core.After) ([]string, error) {
				rows, err := db.Lists().Lists(ctx, org, lists.Filter{After: after, Limit: 2})
				return ids(rows, func(l lists.List) string { return l.ID }), err
			},
			"attributes": func(after *core.After) ([]string, error) {
				rows, err := db.Attributes().AttributePage(ctx, org, after, 2)
				return ids(rows, func(a attributes.Attribute) string { return a.ID }), err
			},
		} {
			if diff := cmp.Diff(want, pages(t, page)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}

		byName, err := db.Attributes().Attributes(ctx, org)
		must(t, err)
		slices.Reverse(byName)
		if diff := cmp.Diff(want, ids(byName, func(a attributes.Attribute) string { return a.Name })); diff != "" {
			t.Errorf("attributes by name (-want +got):\n%s", diff)
		}
	})
}

// pages reads pages until one is empty, and returns all ids in the order in which they
// came.
func pages(t *testing.T, page func(after *core.After) ([]string, error)) []string {
	t.Helper()
	var all []string
	var after *core.After
	for {
		found, err := page(after)
		must(t, err)
		if len(found) == 0 {
			return all
		}
		all = append(all, found...)
		after = &core.After{At: start, ID: found[len(found)-1]}
	}
}

func ids[T any](rows []T, id func(T) string) []string {
	all := make([]string, len(rows))
	for i, row := range rows {
		all[i] = id(row)
	}
	return all
}

// TestOrgIDsAreOldestFirst checks the order in which periodic jobs process organizations.
func TestOrgIDsAreOldestFirst(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		want := []string{newOrg(t, db), newOrg(t, db), newOrg(t, db)}
		got, err := db.Orgs().OrgIDs(t.Context())
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("OrgIDs (-want +got):\n%s", diff)
		}
	})
}
