package storage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestLists(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org := t.Context(), newOrg(t, db)
		vip, tests, gone := newList("vip"), newList("100%_test"), newList("gone")
		vip.Name, vip.Description, vip.Origin, vip.SourcePath = "Très ÉLÉGANT", "d", core.GitOrigin, "lists/vip.yaml"
		gone.Status = "archived"
		for i, l := range []*lists.List{&vip, &tests, &gone} {
			l.CreatedAt = later(i)
			must(t, db.Lists().InsertList(ctx, org, *l))
		}
		again := newList("vip")
		wantCode(t, "a taken key", db.Lists().InsertList(ctx, org, again), core.CodeConflict)

		for query, want := range map[string][]string{
			"": {"100%_test", "vip"}, "élé": {"vip"}, "VIP": {"vip"}, "%_": {"100%_test"}, "_": {"100%_test"}, "gone": {}, `\`: {},
		} {
			got, err := db.Lists().Lists(ctx, org, lists.Filter{Query: query, Limit: 10})
			must(t, err)
			keys := []string{}
			for _, l := range got {
				keys = append(keys, l.Key)
			}
			count, err := db.Lists().CountLists(ctx, org, query)
			must(t, err)
			if diff := cmp.Diff(want, keys); diff != "" || count != len(want) {
				t.Errorf("query %q: count %d, keys (-want +got):\n%s", query, count, diff)
			}
		}

		refs, err := db.Lists().ListsByRef(ctx, org, []string{tests.Key, vip.ID, gone.ID, "unknown", vip.Key})
		must(t, err)
		want := []lists.Ref{{ID: tests.ID, Key: tests.Key, Name: tests.Name}, {ID: vip.ID, Key: vip.Key, Name: vip.Name}}
		if diff := cmp.Diff(want, refs); diff != "" {
			t.Errorf("ListsByRef (-want +got):\n%s", diff)
		}
		if none, err := db.Lists().ListsByRef(ctx, org, nil); err != nil || len(none) != 0 {
			t.Errorf("ListsByRef of nothing: %v, %v", none, err)
		}
	})
}

func TestMembership(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Contacts(), newOrg(t, db)
		a, b, c := newList("a"), newList("b"), newList("c")
		for _, l := range []lists.List{c, b, a} {
			must(t, db.Lists().InsertList(ctx, org, l))
		}
		member := newContact("member@x")
		must(t, store.InsertContact(ctx, org, member))

		steps := []struct{ set, leave, join, on []string }{
			{[]string{b.ID, a.ID}, nil, []string{a.ID, b.ID}, []string{"a", "b"}},
			{[]string{b.ID, c.ID, core.NewID()}, []string{a.ID}, []string{c.ID}, []string{"b", "c"}},
			{[]string{b.ID, c.ID}, nil, nil, []string{"b", "c"}},
			{nil, []string{b.ID, c.ID}, nil, nil},
		}
		for i, step := range steps {
			leftLists, joinedLists, err := db.ListMembers().ReplaceMembership(ctx, org, member.ID, step.set, later(i))
			must(t, err)
			refs, err := db.ListMembers().ContactLists(ctx, org, member.ID)
			must(t, err)
			var on []string
			for _, ref := range refs {
				on = append(on, ref.Key)
			}
			sorted := cmp.Transformer("set", func(ids []string) map[string]bool {
				set := map[string]bool{}
				for _, id := range ids {
					set[id] = true
				}
				return set
			})
			if diff := cmp.Diff([][]string{step.leave, step.join, step.on}, [][]string{leftLists, joinedLists, on}, sorted); diff != "" {
				t.Errorf("step %d, left, joined, on (-want +got):\n%s", i, diff)
			}
		}

		for _, change := range []struct{ joins, leaves, left, joined []string }{
			{joins: []string{b.ID}, joined: []string{b.ID}},
			{joins: []string{a.ID, b.ID, core.NewID()}, leaves: []string{c.ID}, joined: []string{a.ID}},
			{leaves: []string{b.ID, core.NewID()}, left: []string{b.ID}},
		} {
			leftLists, joinedLists, err := db.ListMembers().ChangeMembership(ctx, org, member.ID, change.joins, change.leaves, start)
			must(t, err)
			if diff := cmp.Diff([][]string{change.left, change.joined}, [][]string{leftLists, joinedLists}); diff != "" {
				t.Errorf("ChangeMembership(%+v), left and joined (-want +got):\n%s", change, diff)
			}
		}
		got, err := db.Lists().Lists(ctx, org, lists.Filter{Query: "list a", Limit: 1})
		must(t, err)
		a.MemberCount = 1
		if diff := cmp.Diff([]lists.List{a}, got); diff != "" {
			t.Errorf("Lists (-want +got):\n%s", diff)
		}
	})
}

func TestAttributeRegistry(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org := t.Context(), newOrg(t, db)
		plan := attributes.Attribute{
			ID: core.NewID(), Name: "plan", Type: attributes.Enum, EnumValues: []string{"pro", "free"},
			Description: "What they pay for", Origin: core.GitOrigin, CreatedAt: start, UpdatedAt: later(1),
		}
		seats := attributes.Attribute{ID: core.NewID(), Name: "Seats", Type: attributes.Number, Origin: core.ManagedOrigin, CreatedAt: later(2), UpdatedAt: later(2)}
		must(t, db.Attributes().InsertAttribute(ctx, org, plan))
		must(t, db.Attributes().InsertAttribute(ctx, org, seats))
		again := seats
		again.ID = core.NewID()
		wantCode(t, "a taken name", db.Attributes().InsertAttribute(ctx, org, again), core.CodeConflict)

		plan.Slot, seats.Slot = "s1", "n1"
		byName, err := db.Attributes().Attributes(ctx, org)
		must(t, err)
		if diff := cmp.Diff([]attributes.Attribute{seats, plan}, byName); diff != "" {
			t.Errorf("Attributes (-want +got):\n%s", diff)
		}
		first, err := db.Attributes().AttributePage(ctx, org, nil, 1)
		must(t, err)
		second, err := db.Attributes().AttributePage(ctx, org, &core.After{At: first[0].CreatedAt, ID: first[0].ID}, 5)
		must(t, err)
		if diff := cmp.Diff([]attributes.Attribute{seats, plan}, append(first, second...)); diff != "" {
			t.Errorf("AttributePage (-want +got):\n%s", diff)
		}
	})
}
