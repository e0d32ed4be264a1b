package storage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/visitorids"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestMembershipLogHasEveryTransition checks that the membership log has one entry for each
// change and none for a repeated call. Entries remain after their list is deleted.
func TestMembershipLogHasEveryTransition(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Contacts(), newOrg(t, db)
		contact, one, two := newContact("ada@x"), newList("one"), newList("two")
		must(t, store.InsertContact(ctx, org, contact))
		must(t, db.Lists().InsertList(ctx, org, one))
		must(t, db.Lists().InsertList(ctx, org, two))
		for second, lists := range [][]string{{one.ID}, {one.ID}, {two.ID}, {one.ID, two.ID}, nil, nil} {
			_, _, err := db.ListMembers().ReplaceMembership(ctx, org, contact.ID, lists, later(second))
			must(t, err)
		}
		must(t, db.Lists().DeleteList(ctx, org, two.ID))

		line := func(second int, list lists.List, entered bool) lists.Transition {
			return lists.Transition{At: later(second), Kind: lists.ListSet, SetID: list.ID, ContactID: contact.ID, Entered: entered}
		}
		want := []lists.Transition{
			line(0, one, true), line(2, one, false), line(2, two, true), line(3, one, true), line(4, one, false), line(4, two, false),
		}
		var got []lists.Transition
		for after := (*core.After)(nil); ; {
			page, err := db.ListMembers().MembershipLog(ctx, org, after, 2)
			must(t, err)
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
			after = &core.After{At: page[len(page)-1].At, ID: page[len(page)-1].ID}
		}
		byTime := cmpopts.SortSlices(func(a, b lists.Transition) bool {
			return a.At.Before(b.At) || a.At.Equal(b.At) && a.SetID < b.SetID
		})
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(lists.Transition{}, "ID"), byTime); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

func TestListsAreFoundByIDAndByKey(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Contacts(), newOrg(t, db)
		contact, want := newContact("Ada@x"), newList("one")
		must(t, store.InsertContact(ctx, org, contact))
		must(t, db.Lists().InsertList(ctx, org, want))
		_, _, err := db.ListMembers().ReplaceMembership(ctx, org, contact.ID, []string{want.ID}, later(5))
		must(t, err)
		want.Name, want.Description, want.UpdatedAt, want.MemberCount = "Ein anderer", "text", later(9), 1
		must(t, db.Lists().UpdateList(ctx, org, want))
		for _, ref := range []string{want.ID, want.Key} {
			got, err := db.Lists().List(ctx, org, ref)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		}
		if found, err := db.Lists().CountLists(ctx, org, "anderer"); err != nil || found != 1 {
			t.Errorf("the new name finds %d lists, %v", found, err)
		}
		members, err := db.ListMembers().ListMembers(ctx, org, want.ID, nil, 10)
		if diff := cmp.Diff([]lists.Member{{ContactID: contact.ID, Email: "Ada@x", Mailable: true, AddedAt: later(5)}}, members); err != nil || diff != "" {
			t.Errorf("%v members (-want +got):\n%s", err, diff)
		}
		for who, is := range map[string]bool{contact.ID: true, "ada@X": true, core.NewID(): false, "bob@x": false} {
			if got, err := db.ListMembers().IsListMember(ctx, org, want.ID, who); err != nil || got != is {
				t.Errorf("%s is a member: %t, %v", who, got, err)
			}
		}
		must(t, db.Lists().DeleteList(ctx, org, want.ID))
		wantCode(t, "DeleteList", db.Lists().DeleteList(ctx, org, want.ID), core.CodeNotFound)
		wantCode(t, "UpdateList", db.Lists().UpdateList(ctx, org, want), core.CodeNotFound)
		_, err = db.Lists().List(ctx, org, want.Key)
		wantCode(t, "what is gone", err, core.CodeNotFound)
		remaining, err := db.ListMembers().ContactLists(ctx, org, contact.ID)
		if err != nil || len(remaining) != 0 {
			t.Errorf("still on %v, %v", remaining, err)
		}
	})
}

func TestAContactHasOneVisitorID(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org, contact := t.Context(), db.VisitorIDs(), newOrg(t, db), newContact("ada@x")
		must(t, db.Contacts().InsertContact(ctx, org, contact))
		want := visitorids.Record{ContactID: contact.ID, Hash: []byte{0, 1, 255}, Sealed: []byte{7}, IssuedAt: start}
		must(t, store.InsertVisitorID(ctx, org, want))
		second := want
		second.Hash = []byte{2}
		wantCode(t, "InsertVisitorID", store.InsertVisitorID(ctx, org, second), core.CodeConflict)
		got, err := store.VisitorID(ctx, org, contact.ID)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		must(t, store.DeleteVisitorID(ctx, org, contact.ID))
		must(t, store.DeleteVisitorID(ctx, org, contact.ID))
		_, err = store.VisitorID(ctx, org, contact.ID)
		wantCode(t, "what is gone", err, core.CodeNotFound)
	})
}
