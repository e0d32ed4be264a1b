package storage_test

import (
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/visitorids"
	"github.com/mailhelm/mailhelm/storage"
)

func (o ownedObjects) ownVisitor(t *testing.T, db *storage.DB) {
	t.Helper()
	must(t, db.VisitorIDs().InsertVisitorID(t.Context(), o.org, visitorOf(o)))
	o.ownSite(t, db)
	o.ownRetention(t, db)
	o.ownRepository(t, db)
}

func visitorOf(o ownedObjects) visitorids.Record {
	hash := visitorids.HashOf("same")
	return visitorids.Record{ContactID: o.contact.ID, Hash: hash[:], Sealed: []byte(o.org), IssuedAt: start}
}

func (o ownedObjects) membershipState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	ctx, store := t.Context(), db.VisitorIDs()
	list, err := db.Lists().List(ctx, o.org, o.list.Key)
	must(t, err)
	members, err := db.ListMembers().ListMembers(ctx, o.org, o.list.ID, nil, 10)
	must(t, err)
	log, err := db.ListMembers().MembershipLog(ctx, o.org, nil, 10)
	must(t, err)
	visitor, err := store.VisitorID(ctx, o.org, o.contact.ID)
	must(t, err)
	return append([]any{list, members, log, visitor}, slices.Concat(o.siteState(t, db), o.retentionState(t, db), o.repositoryState(t, db))...)
}

func membershipCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"MirroredAddresses": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Subscribers().MirroredAddresses(t.Context(), org, "", 10)
		},
		"FindContacts": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ContactSearch().FindContacts(t.Context(), org, contacts.SearchFilter{Search: contacts.Search{Text: o.contact.Email}, Limit: 10})
		},
		"FindContacts of a list": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ContactSearch().FindContacts(t.Context(), org, contacts.SearchFilter{Search: contacts.Search{List: o.list.ID}, Limit: 10})
		},
		"CountFound": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ContactSearch().CountFound(t.Context(), org, contacts.SearchFilter{}, 10)
		},
		"CountContacts": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ContactCount().CountContacts(t.Context(), org)
		},
		"List by id": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Lists().List(t.Context(), org, o.list.ID)
		},
		"List": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Lists().List(t.Context(), org, o.list.Key)
		},
		"UpdateList": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Lists().UpdateList(t.Context(), org, o.list)
		},
		"SetListStatus": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Lists().SetListStatus(t.Context(), org, lists.List{ID: o.list.ID, Status: "archived"})
		},
		"DeleteList": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Lists().DeleteList(t.Context(), org, o.list.ID)
		},
		"ListMembers": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ListMembers().ListMembers(t.Context(), org, o.list.ID, nil, 10)
		},
		"SearchListMembers": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ListMembers().SearchListMembers(t.Context(), org, o.list.ID, "", nil, 10)
		},
		"IsListMember by id": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ListMembers().IsListMember(t.Context(), org, o.list.ID, o.contact.ID)
		},
		"IsListMember": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ListMembers().IsListMember(t.Context(), org, o.list.ID, o.contact.Email)
		},
		"MembershipLog": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ListMembers().MembershipLog(t.Context(), org, nil, 10)
		},
		"VisitorID": func(t *testing.T, db *storage.DB) (any, error) {
			return db.VisitorIDs().VisitorID(t.Context(), org, o.contact.ID)
		},
		"InsertVisitorID": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.VisitorIDs().InsertVisitorID(t.Context(), org, visitorOf(o))
		},
		"DeleteVisitorID": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.VisitorIDs().DeleteVisitorID(t.Context(), org, o.contact.ID)
		},
	}
}

func listMemberCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"ContactLists": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ListMembers().ContactLists(t.Context(), org, o.contact.ID)
		},
		"ReplaceMembership leaves": func(t *testing.T, db *storage.DB) (any, error) {
			leftLists, joinedLists, err := db.ListMembers().ReplaceMembership(t.Context(), org, o.contact.ID, nil, later(1))
			return append(leftLists, joinedLists...), err
		},
		"ReplaceMembership joins": func(t *testing.T, db *storage.DB) (any, error) {
			own := newContact("own@x")
			must(t, db.Contacts().InsertContact(t.Context(), org, own))
			leftLists, joinedLists, err := db.ListMembers().ReplaceMembership(t.Context(), org, own.ID, []string{o.list.ID}, later(1))
			return append(leftLists, joinedLists...), err
		},
		"ChangeMembership leaves": func(t *testing.T, db *storage.DB) (any, error) {
			leftLists, _, err := db.ListMembers().ChangeMembership(t.Context(), org, o.contact.ID, nil, []string{o.list.ID}, later(1))
			return leftLists, err
		},
		"ChangeMembership joins": func(t *testing.T, db *storage.DB) (any, error) {
			own := newContact("joins@x")
			must(t, db.Contacts().InsertContact(t.Context(), org, own))
			_, joinedLists, err := db.ListMembers().ChangeMembership(t.Context(), org, own.ID, []string{o.list.ID}, nil, later(1))
			return joinedLists, err
		},
	}
}
