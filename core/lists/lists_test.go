package lists_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestListWrites(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := contactstest.New(t, db)
		made := w.Want(t, "lists_create", `{"name":" Müller's  V.I.P. (2026) "}`)
		if made["key"] != "m-ller-s-v-i-p-2026" || made["name"] != "Müller's  V.I.P. (2026)" || made["source"] != "api" || made["origin"] != "managed" || made["member_count"] != 0.0 {
			t.Errorf("made %v", made)
		}
		id := made["id"].(string)
		changed := w.Want(t, "lists_update", `{"id":"m-ller-s-v-i-p-2026","name":"VIP","key":"other"}`)
		if changed["key"] != made["key"] || changed["name"] != "VIP" || changed["id"] != id {
			t.Errorf("changed %v", changed)
		}
		w.Want(t, "contacts_create", `{"email":"ada@example.com","lists":{"add":["`+id+`"]}}`)
		if got := w.Want(t, "lists_get", `{"id":"`+id+`"}`); got["member_count"] != 1.0 {
			t.Errorf("read %v", got)
		}
		if got := w.Want(t, "lists_check_member", `{"id":"`+id+`","contact":"ADA@example.com"}`); got["is_member"] != true {
			t.Errorf("checked %v", got)
		}
		w.Want(t, "lists_delete", `{"id":"`+id+`"}`)
		if c := w.Want(t, "contacts_lookup", `{"email":"ada@example.com"}`); len(contactstest.ListKeys(c)) != 0 {
			t.Errorf("still on %v", contactstest.ListKeys(c))
		}
		log, err := db.ListMembers().MembershipLog(t.Context(), w.Org.ID, nil, 10)
		if err != nil || len(log) != 1 || !log[0].Entered {
			t.Errorf("the log became %+v, %v", log, err)
		}
		for _, name := range []string{"lists_get", "lists_delete", "lists_update", "lists_members"} {
			w.Refuse(t, name, `{"id":"`+id+`"}`, core.CodeNotFound)
		}
		w.Want(t, "lists_create", `{"name":"Again","key":"m-ller-s-v-i-p-2026"}`)
	})
}

// TestSourceOfAList checks that a list says whether a person created it on the dashboard or
// a program did.
func TestSourceOfAList(t *testing.T) {
	t.Parallel()
	w := contactstest.New(t, storagetest.SQLite(t))
	for surface, want := range map[core.Surface]string{core.REST: "api", core.Agent: "api", core.Dashboard: "ui"} {
		w.Surface = surface
		if made := w.Want(t, "lists_create", `{"name":"From `+string(surface)+`"}`); made["source"] != want {
			t.Errorf("%s: %v", surface, made["source"])
		}
	}
}

func TestListRefusals(t *testing.T) {
	t.Parallel()
	w := contactstest.New(t, storagetest.SQLite(t))
	git := lists.List{ID: core.NewID(), Key: "from-git", Name: "Git", Source: "api", Origin: core.GitOrigin, SourcePath: "mailhelm.json", Status: "active", CreatedAt: w.Clock(), UpdatedAt: w.Clock()}
	if err := w.DB.Lists().InsertList(t.Context(), w.Org.ID, git); err != nil {
		t.Fatal(err)
	}
	if got := w.Want(t, "lists_get", `{"id":"from-git"}`); got["source_path"] != "mailhelm.json" {
		t.Errorf("read %v", got)
	}
	w.Refuse(t, "lists_create", `{"name":"From git"}`, core.CodeConflict)
	w.Refuse(t, "lists_create", `{"name":"Beta"}`, core.CodeConflict)
	w.Refuse(t, "lists_update", `{"id":"from-git","name":"x"}`, core.CodeConflict)
	w.Refuse(t, "lists_delete", `{"id":"`+git.ID+`"}`, core.CodeConflict)
	for _, wrong := range []string{`"name":"  "`, `"name":"顧客"`, `"name":"x","key":"-x"`, `"name":"x","key":"A"`, `"name":"x","key":"a/b"`, `"name":"x","key":"` + core.NewID() + `"`, `"key":"x"`} {
		w.Refuse(t, "lists_create", `{`+wrong+`}`, core.CodeValidationFailed)
	}
	w.Refuse(t, "lists_update", `{"id":"beta","name":" "}`, core.CodeValidationFailed)
	w.Refuse(t, "lists_check_member", `{"id":"beta","contact":"somebody"}`, core.CodeValidationFailed)
}

func TestListMembersPage(t *testing.T) {
	t.Parallel()
	w := contactstest.New(t, storagetest.SQLite(t))
	for _, email := range []string{"a@example.com", "b@example.com", "c@example.com"} {
		w.Want(t, "contacts_create", `{"email":"`+email+`","lists":{"add":["beta"]}}`)
	}
	first := w.Want(t, "lists_members", `{"id":"beta","limit":2}`)
	cursor, _ := first["pagination"].(map[string]any)["next_cursor"].(string)
	second := w.Want(t, "lists_members", `{"id":"beta","limit":2,"cursor":"`+cursor+`"}`)
	if got := append(contactstest.Emails(first), contactstest.Emails(second)...); !cmp.Equal(got, []string{"c@example.com", "b@example.com", "a@example.com"}) {
		t.Errorf("members %v", got)
	}
	w.Refuse(t, "lists_members", `{"id":"customers","cursor":"`+cursor+`"}`, core.CodeValidationFailed)
}

// TestSearchOfMembers checks that a search finds the members with a part of an address, that
// characters of patterns have no meaning in it, and that it pages.
func TestSearchOfMembers(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := contactstest.New(t, db)
		for _, email := range []string{"a_1@example.com", "ab1@example.com", "c@other.example"} {
			w.Want(t, "contacts_create", `{"email":"`+email+`","lists":{"add":["beta"]}}`)
		}
		id := w.Want(t, "lists_get", `{"id":"beta"}`)["id"].(string)
		for part, want := range map[string][]string{
			"": {"c@other.example", "ab1@example.com", "a_1@example.com"}, "A_1": {"a_1@example.com"}, "%": nil, "EXAMPLE.com": {"ab1@example.com", "a_1@example.com"},
		} {
			var got []string
			for cursor, more := "", true; more; more = cursor != "" {
				page, err := w.Lists.SearchMembers(t.Context(), w.Org.ID, id, part, cursor, 1)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range page.Items {
					got = append(got, m.Email)
				}
				cursor = page.Next
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", part, diff)
			}
		}
		page, err := w.Lists.Search(t.Context(), w.Org.ID, "BET", "", 10)
		if err != nil || page.Total != 1 || len(page.Items) != 1 || page.Items[0].Key != "beta" {
			t.Errorf("lists %+v, %v", page, err)
		}
	})
}

func TestListsForAnAgentAreCounted(t *testing.T) {
	t.Parallel()
	w := contactstest.New(t, storagetest.SQLite(t))
	w.Want(t, "contacts_create", `{"email":"a@example.com","lists":{"add":["beta"]}}`)
	w.Surface = core.Agent
	got := w.Want(t, "lists_list", `{"limit":1}`)
	if got["shown"] != 1.0 || got["total"] != 2.0 || got["truncated"] != true || got["more"] == "" {
		t.Errorf("got %v", got)
	}
	got = w.Want(t, "lists_list", `{"query":"BET"}`)
	list := got["items"].([]any)[0].(map[string]any)
	if got["total"] != 1.0 || got["truncated"] != false || list["key"] != "beta" || list["member_count"] != 1.0 {
		t.Errorf("got %v", got)
	}
	w.Refuse(t, "lists_list", `{"cursor":"x"}`, core.CodeValidationFailed)
}

// TestDeletingAListCallsDeletes checks that Config.Deletes is called before a list is
// deleted, and that its error prevents the deletion.
func TestDeletingAListCallsDeletes(t *testing.T) {
	t.Parallel()
	w := contactstest.New(t, storagetest.SQLite(t))
	var notified [][]string
	var refusal error
	w.Lists.Deletes = func(_ context.Context, orgID string, listIDs []string) error {
		if orgID != w.Org.ID {
			t.Errorf("told of organization %s", orgID)
		}
		notified = append(notified, listIDs)
		return refusal
	}
	id := w.Want(t, "lists_get", `{"id":"beta"}`)["id"].(string)
	refusal = errors.New("no")
	w.Refuse(t, "lists_delete", `{"id":"beta"}`, core.CodeInternalError)
	refusal = nil
	w.Want(t, "lists_delete", `{"id":"beta"}`)
	w.Refuse(t, "lists_delete", `{"id":"beta"}`, core.CodeNotFound)
	if diff := cmp.Diff([][]string{{id}, {id}}, notified); diff != "" {
		t.Error(diff)
	}
}
