package audience_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestListWrites(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		made := b.want(t, "lists_create", `{"name":" Müller's  V.I.P. (2026) "}`)
		if made["key"] != "m-ller-s-v-i-p-2026" || made["name"] != "Müller's  V.I.P. (2026)" || made["source"] != "api" || made["origin"] != "managed" || made["member_count"] != 0.0 {
			t.Errorf("made %v", made)
		}
		id := made["id"].(string)
		changed := b.want(t, "lists_update", `{"id":"m-ller-s-v-i-p-2026","name":"VIP","key":"other"}`)
		if changed["key"] != made["key"] || changed["name"] != "VIP" || changed["id"] != id {
			t.Errorf("changed %v", changed)
		}
		b.want(t, "contacts_create", `{"email":"ada@example.com","lists":{"add":["`+id+`"]}}`)
		if got := b.want(t, "lists_get", `{"id":"`+id+`"}`); got["member_count"] != 1.0 {
			t.Errorf("read %v", got)
		}
		if got := b.want(t, "lists_check_member", `{"id":"`+id+`","contact":"ADA@example.com"}`); got["is_member"] != true {
			t.Errorf("checked %v", got)
		}
		b.want(t, "lists_delete", `{"id":"`+id+`"}`)
		if c := b.want(t, "contacts_lookup", `{"email":"ada@example.com"}`); len(keys(c)) != 0 {
			t.Errorf("still on %v", keys(c))
		}
		log, err := db.Audience().MembershipLog(t.Context(), b.org.ID, nil, 10)
		if err != nil || len(log) != 1 || !log[0].Entered {
			t.Errorf("the log became %+v, %v", log, err)
		}
		for _, name := range []string{"lists_get", "lists_delete", "lists_update", "lists_members"} {
			b.refuse(t, name, `{"id":"`+id+`"}`, core.CodeNotFound)
		}
		b.want(t, "lists_create", `{"name":"Again","key":"m-ller-s-v-i-p-2026"}`)
	})
}

func TestListRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	git := audience.List{ID: core.NewID(), Key: "from-git", Name: "Git", Source: "api", Origin: core.GitOrigin, SourcePath: "mailhelm.json", Status: "active", CreatedAt: b.now, UpdatedAt: b.now}
	if err := b.db.Audience().InsertList(t.Context(), b.org.ID, git); err != nil {
		t.Fatal(err)
	}
	if got := b.want(t, "lists_get", `{"id":"from-git"}`); got["source_path"] != "mailhelm.json" {
		t.Errorf("read %v", got)
	}
	b.refuse(t, "lists_create", `{"name":"From git"}`, core.CodeConflict)
	b.refuse(t, "lists_create", `{"name":"Beta"}`, core.CodeConflict)
	b.refuse(t, "lists_update", `{"id":"from-git","name":"x"}`, core.CodeConflict)
	b.refuse(t, "lists_delete", `{"id":"`+git.ID+`"}`, core.CodeConflict)
	for _, wrong := range []string{`"name":"  "`, `"name":"顧客"`, `"name":"x","key":"-x"`, `"name":"x","key":"A"`, `"name":"x","key":"a/b"`, `"name":"x","key":"` + core.NewID() + `"`, `"key":"x"`} {
		b.refuse(t, "lists_create", `{`+wrong+`}`, core.CodeValidationFailed)
	}
	b.refuse(t, "lists_update", `{"id":"beta","name":" "}`, core.CodeValidationFailed)
	b.refuse(t, "lists_check_member", `{"id":"beta","contact":"somebody"}`, core.CodeValidationFailed)
}

func TestListMembersPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, email := range []string{"a@example.com", "b@example.com", "c@example.com"} {
		b.want(t, "contacts_create", `{"email":"`+email+`","lists":{"add":["beta"]}}`)
	}
	first := b.want(t, "lists_members", `{"id":"beta","limit":2}`)
	cursor, _ := first["pagination"].(map[string]any)["next_cursor"].(string)
	second := b.want(t, "lists_members", `{"id":"beta","limit":2,"cursor":"`+cursor+`"}`)
	if got := append(emails(first), emails(second)...); !cmp.Equal(got, []string{"c@example.com", "b@example.com", "a@example.com"}) {
		t.Errorf("members %v", got)
	}
	b.refuse(t, "lists_members", `{"id":"customers","cursor":"`+cursor+`"}`, core.CodeValidationFailed)
}

func TestListsForAnAgentAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(t, "contacts_create", `{"email":"a@example.com","lists":{"add":["beta"]}}`)
	b.surface = core.Agent
	got := b.want(t, "lists_list", `{"limit":1}`)
	if got["shown"] != 1.0 || got["total"] != 2.0 || got["truncated"] != true || got["more"] == "" {
		t.Errorf("got %v", got)
	}
	got = b.want(t, "lists_list", `{"query":"BET"}`)
	list := got["items"].([]any)[0].(map[string]any)
	if got["total"] != 1.0 || got["truncated"] != false || list["key"] != "beta" || list["member_count"] != 1.0 {
		t.Errorf("got %v", got)
	}
	b.refuse(t, "lists_list", `{"cursor":"x"}`, core.CodeValidationFailed)
}
