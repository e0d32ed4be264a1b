package audience_test

import (
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

func (b *bundle) syncLater(t *testing.T) audience.SyncReport {
	t.Helper()
	b.advance(time.Minute)
	report, err := b.audience.Sync(t.Context(), b.org.ID)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// What the account lost comes back with the consent the mirror remembers; what only
// the account knew comes here; nobody else is touched, and then all is quiet.
func TestSyncRepairsBothSides(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.want(t, "contacts_create", `{"email":"Lost@example.com","unsubscribe_all":true,"topic_preferences":{"news":"OPT_OUT","offers":"OPT_IN"}}`)
		b.want(t, "contacts_create", `{"email":"kept@example.com"}`)
		b.want(t, "contacts_create", `{"email":"left@example.com"}`)
		b.want(t, "contacts_archive", `{"email":"left@example.com"}`)
		for _, email := range []string{"shell@example.com", "stranger@example.com"} {
			if err := b.account.PutContact(t.Context(), b.org.ID, sending.Contact{Email: email}); err != nil {
				t.Fatal(err)
			}
			if email == "shell@example.com" {
				b.syncLater(t)
			}
		}
		for _, email := range []string{"lost@example.com", "shell@example.com"} {
			if err := b.account.DeleteContact(t.Context(), b.org.ID, email); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.account.ChangeTopics(t.Context(), b.org.ID, func([]sending.Topic) ([]sending.Topic, error) {
			return []sending.Topic{{Name: "news", DisplayName: "News", Default: sending.OptIn}}, nil
		}); err != nil {
			t.Fatal(err)
		}
		b.noted()
		want := audience.SyncReport{Topics: 1, Pages: 1, Mirrored: audience.Mirrored{Created: 1, Unchanged: 1}, Pushed: 1}
		if diff := cmp.Diff(want, b.syncLater(t)); diff != "" {
			t.Errorf("report (-want +got):\n%s", diff)
		}
		if told := b.noted(); len(told) != 1 {
			t.Errorf("told of %v", told)
		}
		back, there := b.atAccount(t, "lost@example.com")
		if !there || back.Email != "Lost@example.com" || !back.UnsubscribeAll || !cmp.Equal(back.Preferences, map[string]sending.Subscription{"news": sending.OptOut}) {
			t.Errorf("what was lost came back as %+v, %t", back, there)
		}
		for _, email := range []string{"left@example.com", "shell@example.com"} {
			if _, there := b.atAccount(t, email); there {
				t.Errorf("%s was pushed", email)
			}
		}
		if again := b.syncLater(t); again.Pushed+again.Created != 0 {
			t.Errorf("the next sync did %+v", again)
		}
	})
}

// One sync pushes so many and leaves the rest to the next, and goes on when the
// account does not take one.
func TestRepairsAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const lost, most = 503, 500
	store, odd := b.db.Audience(), 0
	for i := range lost {
		c := audience.Contact{ID: core.NewID(), Email: core.NewID() + "@example.com", Status: audience.Active, CreatedAt: b.now, UpdatedAt: b.now}
		if i == 7 {
			c.Email, odd = "no address", 1
		}
		if err := store.InsertContact(t.Context(), b.org.ID, c); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.syncLater(t); got.Pushed != most-odd || got.Refused != odd || got.Left != lost-most {
		t.Errorf("first %+v", got)
	}
	if got := b.syncLater(t); got.Pushed != lost-most || got.Refused != odd || got.Left != 0 {
		t.Errorf("then %+v", got)
	}
}

func TestTopicWritesGoThrough(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.refuse(t, "contact_list_get", `{}`, core.CodeContactListNotSynced)
		b.want(t, "topics_list", `{}`) // remembered for a minute, unless somebody writes
		made := b.want(t, "topics_create", `{"name":"Tips_1","default_subscription_status":"OPT_OUT"}`)
		if made["display_name"] != "Tips_1" || made["origin"] != "managed" || made["status"] != "active" {
			t.Errorf("made %v", made)
		}
		b.want(t, "contacts_create", `{"email":"ada@example.com","topic_preferences":{"Tips_1":"OPT_IN"}}`)
		changed := b.want(t, "topics_update", `{"name":"Tips_1","description":"Tips","default_subscription_status":"OPT_IN"}`)
		if changed["display_name"] != "Tips_1" || changed["description"] != "Tips" || changed["default_subscription_status"] != "OPT_IN" {
			t.Errorf("changed %v", changed)
		}
		b.syncLater(t)
		if list := b.want(t, "contact_list_get", `{}`); list["topic_count"] != 3.0 || list["contact_count"] != 1.0 || list["name"] != "main" || list["last_synced_at"] == nil {
			t.Errorf("list %v", list)
		}
		b.want(t, "topics_delete", `{"name":"Tips_1"}`)
		if c := b.want(t, "contacts_lookup", `{"email":"ada@example.com"}`); len(choices(c)) != 0 {
			t.Errorf("still chose %v", c)
		}
		if all := b.want(t, "topics_list", `{}`)["data"].([]any); len(all) != 2 {
			t.Errorf("topics %v", all)
		}
		b.refuse(t, "topics_create", `{"name":"news","default_subscription_status":"OPT_IN"}`, core.CodeConflict)
		b.refuse(t, "topics_create", `{"name":"a b","default_subscription_status":"OPT_IN"}`, core.CodeValidationFailed)
		b.refuse(t, "topics_create", `{"name":"a"}`, core.CodeValidationFailed)
		b.refuse(t, "topics_update", `{"name":"gone"}`, core.CodeNotFound)
		b.refuse(t, "topics_delete", `{"name":"gone"}`, core.CodeNotFound)
		b.account.Faults().Set(simulator.Fault{Method: simulator.MethodChangeTopics, Kind: sending.Invalid, Times: 1})
		b.refuse(t, "topics_create", `{"name":"full","default_subscription_status":"OPT_IN"}`, core.CodeValidationFailed)
		b.account.Faults().Set(simulator.Fault{Method: simulator.MethodChangeTopics, Kind: sending.Refused, Times: 1})
		b.refuse(t, "topics_create", `{"name":"away","default_subscription_status":"OPT_IN"}`, core.CodeUpstreamUnavailable)
		if _, err := b.db.Audience().Topics(t.Context(), b.org.ID); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFiftyTopics(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 48 {
		b.want(t, "topics_create", `{"name":"t`+string(rune('A'+i%26))+string(rune('a'+i/26))+`","default_subscription_status":"OPT_IN"}`)
	}
	b.refuse(t, "topics_create", `{"name":"one_more","default_subscription_status":"OPT_IN"}`, core.CodeValidationFailed)
	if all := b.want(t, "topics_list", `{}`)["data"].([]any); len(all) != 50 {
		t.Errorf("%d topics", len(all))
	}
}

// TestAccountThatTakesNoList checks an account in which Mailhelm may not make the contact
// list. Single writes are refused and name the command that makes one. Rows of bulk
// writes are put off until the account has a list.
func TestAccountThatTakesNoList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.org.ID = core.NewID()
	b.org.Slug = "bare"
	if err := b.db.Orgs().InsertOrg(t.Context(), b.org); err != nil {
		t.Fatal(err)
	}
	if err := b.account.Seed(t.Context(), b.org.ID, simulator.Setup{}); err != nil {
		t.Fatal(err)
	}
	b.account.Faults().Set(simulator.Fault{Method: simulator.MethodEnsureContactList, Kind: sending.Unsupported})
	for name, arguments := range map[string]string{
		"contacts_create": `{"email":"a@x.example"}`, "topics_create": `{"name":"n","default_subscription_status":"OPT_IN"}`,
	} {
		if refusal := b.refusal(t, name, arguments, core.CodeConflict); !strings.Contains(refusal.Next, "aws sesv2 create-contact-list") {
			t.Errorf("%s: %+v", name, refusal)
		}
	}
	if items := b.accepted(t, b.accept(t, `{"email":"a@x.example"}`)); items[0]["status"] != "created" {
		t.Fatal(items)
	}
	report, err := b.audience.Push(t.Context(), b.org.ID)
	if err != nil || report.PutOff == 0 || report.Refused != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	b.account.Faults().Clear()
	b.advance(time.Hour)
	if report, err := b.audience.Push(t.Context(), b.org.ID); err != nil || report.Settled != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}
