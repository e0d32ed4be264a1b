package audience_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

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

func TestTopicsAreRememberedForAMinute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(t, "topics_list", ``)
	b.account.Faults().Set(simulator.Fault{Kind: sending.Refused})
	if got := b.want(t, "topics_list", ``); len(got["data"].([]any)) != 2 {
		t.Errorf("got %v", got)
	}
	b.advance(time.Minute)
	b.refuse(t, "topics_list", ``, core.CodeUpstreamUnavailable)
}

func TestTopicsOfAnAccountWithoutAListAreNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.org.ID = core.NewID()
	if err := b.account.Seed(t.Context(), b.org.ID, simulator.Setup{}); err != nil {
		t.Fatal(err)
	}
	if got := b.want(t, "topics_list", ``); len(got["data"].([]any)) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestSyncFollowsTheAccount(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.want(t, "contacts_create", `{"email":"known@example.com","attributes":{"age":5}}`)
		b.want(t, "contacts_create", `{"email":"away@example.com"}`)
		b.want(t, "contacts_archive", `{"email":"away@example.com"}`)
		b.advance(time.Minute)
		for _, c := range []sending.Contact{
			{Email: "Known@example.com", UnsubscribeAll: true},
			{Email: "stranger@example.com", Preferences: map[string]sending.Subscription{"offers": sending.OptIn}},
			{Email: "away@example.com"},
		} {
			if err := b.account.PutContact(t.Context(), b.org.ID, c); err != nil {
				t.Fatal(err)
			}
		}
		b.advance(time.Minute)
		report, err := b.audience.Sync(t.Context(), b.org.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(audience.Mirrored{Created: 1, Updated: 1, Unchanged: 1}, report.Mirrored); diff != "" {
			t.Error(diff)
		}
		page := b.want(t, "contacts_list", `{"unsubscribe_all":true}`)
		if diff := cmp.Diff([]string{"known@example.com"}, emails(page)); diff != "" {
			t.Error(diff)
		}
		if got := b.want(t, "contacts_list", `{"topic":"offers"}`); len(emails(got)) != 1 {
			t.Errorf("the stranger's choice: %v", emails(got))
		}
		if got := b.want(t, "contacts_lookup", `{"email":"away@example.com"}`); got["status"] != "archived" {
			t.Errorf("a sync takes nobody back into use: %v", got)
		}
		again, err := b.audience.Sync(t.Context(), b.org.ID)
		if err != nil || again.Created+again.Updated != 0 {
			t.Errorf("a second sync changes nothing: %+v, %v", again, err)
		}
	})
}

// They are visited in any order, so that any may be the one.
func TestOneFailingOrganizationDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	second := core.Org{ID: core.NewID(), Name: "Second", Slug: "second", Tier: "free", RetentionDays: 30}
	if err := b.db.Orgs().InsertOrg(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	none := core.Org{ID: core.NewID(), Name: "None", Slug: "none", Tier: "free", RetentionDays: 30}
	if err := b.db.Orgs().InsertOrg(t.Context(), none); err != nil { // has no account, which is no failure
		t.Fatal(err)
	}
	if err := b.account.Seed(t.Context(), second.ID, simulator.Setup{
		List: &sending.ContactList{Name: "main"}, Contacts: []sending.Contact{{Email: "a@example.com"}},
	}); err != nil {
		t.Fatal(err)
	}
	b.account.Faults().Set(simulator.Fault{Method: simulator.MethodContactList, Kind: sending.Refused, Times: 1})
	err := b.audience.SyncWorker().Work(t.Context(), audience.SyncArgs{})
	failed := slices.DeleteFunc([]core.Org{b.org, second, none}, func(org core.Org) bool { return err == nil || !strings.Contains(err.Error(), org.ID) })
	if len(failed) != 1 {
		t.Fatalf("the job must say which one failed: %v", err)
	}
	for _, org := range []core.Org{b.org, second} {
		if _, err := b.db.Audience().ContactList(t.Context(), org.ID); (err != nil) != (org.ID == failed[0].ID) {
			t.Errorf("%s failed, and the list of %s: %v", failed[0].Name, org.Name, err)
		}
	}
}
