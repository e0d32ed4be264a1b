package topics_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestTopicsAreRememberedForAMinute(t *testing.T) {
	t.Parallel()
	w := contactstest.New(t, storagetest.SQLite(t))
	w.Want(t, "topics_list", ``)
	w.Account.Faults().Set(simulator.Fault{Kind: sending.Refused})
	if got := w.Want(t, "topics_list", ``); len(got["data"].([]any)) != 2 {
		t.Errorf("got %v", got)
	}
	w.Advance(time.Minute)
	w.Refuse(t, "topics_list", ``, core.CodeUpstreamUnavailable)
}

func TestTopicsOfAnAccountWithoutAListAreNone(t *testing.T) {
	t.Parallel()
	w := contactstest.New(t, storagetest.SQLite(t))
	w.Org.ID = core.NewID()
	if err := w.Account.Seed(t.Context(), w.Org.ID, simulator.Setup{}); err != nil {
		t.Fatal(err)
	}
	if got := w.Want(t, "topics_list", ``); len(got["data"].([]any)) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestSyncFollowsTheAccount(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := contactstest.New(t, db)
		w.Want(t, "contacts_create", `{"email":"known@example.com","attributes":{"age":5}}`)
		w.Want(t, "contacts_create", `{"email":"away@example.com"}`)
		w.Want(t, "contacts_archive", `{"email":"away@example.com"}`)
		w.Advance(time.Minute)
		for _, c := range []sending.Contact{
			{Email: "Known@example.com", UnsubscribeAll: true},
			{Email: "stranger@example.com", Preferences: map[string]sending.Subscription{"offers": sending.OptIn}},
			{Email: "away@example.com"},
		} {
			if err := w.Account.PutContact(t.Context(), w.Org.ID, c); err != nil {
				t.Fatal(err)
			}
		}
		w.Advance(time.Minute)
		report, err := w.Sync.Run(t.Context(), w.Org.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(topics.Mirrored{Created: 1, Updated: 1, Unchanged: 1}, report.Mirrored); diff != "" {
			t.Error(diff)
		}
		page := w.Want(t, "contacts_list", `{"unsubscribe_all":true}`)
		if diff := cmp.Diff([]string{"known@example.com"}, contactstest.Emails(page)); diff != "" {
			t.Error(diff)
		}
		if got := w.Want(t, "contacts_list", `{"topic":"offers"}`); len(contactstest.Emails(got)) != 1 {
			t.Errorf("the stranger's choice: %v", contactstest.Emails(got))
		}
		if got := w.Want(t, "contacts_lookup", `{"email":"away@example.com"}`); got["status"] != "archived" {
			t.Errorf("a sync takes nobody back into use: %v", got)
		}
		again, err := w.Sync.Run(t.Context(), w.Org.ID)
		if err != nil || again.Created+again.Updated != 0 {
			t.Errorf("a second sync changes nothing: %+v, %v", again, err)
		}
	})
}

// TestSyncLeavesOutErasedAddresses checks that a sync creates no contact for the address of an
// erased person, which another program has put on the account's contact list again.
func TestSyncLeavesOutErasedAddresses(t *testing.T) {
	t.Parallel()
	storagetest.Once(t, func(t *testing.T, db *storage.DB) {
		w := contactstest.New(t, db)
		for _, email := range []string{"erased@example.com", "stranger@example.com"} {
			if err := w.Account.PutContact(t.Context(), w.Org.ID, sending.Contact{Email: email}); err != nil {
				t.Fatal(err)
			}
		}
		w.Sync.ErasedAddresses = func(_ context.Context, _ string, emails []string) (map[string]bool, error) {
			if len(emails) != 2 {
				t.Errorf("asked about %q", emails)
			}
			return map[string]bool{"erased@example.com": true}, nil
		}
		if _, err := w.Sync.Run(t.Context(), w.Org.ID); err != nil {
			t.Fatal(err)
		}
		if got := contactstest.Emails(w.Want(t, "contacts_list", `{}`)); !slices.Equal(got, []string{"stranger@example.com"}) {
			t.Errorf("the contacts are %q", got)
		}
	})
}

// TestOneFailingOrganizationDoesNotHoldUpTheOthers checks that the job syncs the other
// organizations when one fails. The first organization that the job visits fails; the order
// of the visits is random.
func TestOneFailingOrganizationDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	w := contactstest.New(t, storagetest.SQLite(t))
	second := core.Org{ID: core.NewID(), Name: "Second", Slug: "second", Tier: "free", RetentionDays: 30}
	if err := w.DB.Orgs().InsertOrg(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	none := core.Org{ID: core.NewID(), Name: "None", Slug: "none", Tier: "free", RetentionDays: 30}
	// this organization has no account, which is no error
	if err := w.DB.Orgs().InsertOrg(t.Context(), none); err != nil {
		t.Fatal(err)
	}
	if err := w.Account.Seed(t.Context(), second.ID, simulator.Setup{
		List: &sending.ContactList{Name: "main"}, Contacts: []sending.Contact{{Email: "a@example.com"}},
	}); err != nil {
		t.Fatal(err)
	}
	w.Account.Faults().Set(simulator.Fault{Method: simulator.MethodContactList, Kind: sending.Refused, Times: 1})
	w.Sync.Results = w.DB.SyncResults()
	err := w.Sync.Worker().Work(t.Context(), topics.SyncArgs{})
	failed := slices.DeleteFunc([]core.Org{w.Org, second, none}, func(org core.Org) bool { return err == nil || !strings.Contains(err.Error(), org.ID) })
	if len(failed) != 1 {
		t.Fatalf("the job must say which one failed: %v", err)
	}
	for _, org := range []core.Org{w.Org, second} {
		if _, err := w.DB.TopicSync().ContactList(t.Context(), org.ID); (err != nil) != (org.ID == failed[0].ID) {
			t.Errorf("%s failed, and the list of %s: %v", failed[0].Name, org.Name, err)
		}
		results, err := w.DB.SyncResults().SyncResults(t.Context(), org.ID)
		if err != nil || len(results) != 1 || results[0].Kind != sending.ContactSync || (results[0].Failure == sending.Refused) != (org.ID == failed[0].ID) {
			t.Errorf("%s failed, and the result of %s: %v, %v", failed[0].Name, org.Name, results, err)
		}
	}
}

// delayedList is a sending account that calls a function after it has read the contact list
// and before it returns it.
type delayedList struct {
	sending.Account
	then func()
}

func (a delayedList) ContactList(ctx context.Context, orgID string) (sending.ContactList, error) {
	list, err := a.Account.ContactList(ctx, orgID)
	a.then()
	return list, err
}

// TestASyncUndoesNoWriteOfATopic changes a topic after a sync has read the account's topics
// and before it has stored them. It checks that the database then has the changed topic.
func TestASyncUndoesNoWriteOfATopic(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := contactstest.New(t, db)
		w.SyncLater(t)
		written := make(chan struct{})
		slow := *w.Sync.Topics
		slow.Account = delayedList{w.Account, sync.OnceFunc(func() {
			go func() {
				defer close(written)
				if _, refused := w.Run(t.Context(), "topics_update", `{"name":"news","default_subscription_status":"OPT_OUT"}`); refused != nil {
					t.Error(refused)
				}
			}()
			select {
			case <-written:
			case <-time.After(100 * time.Millisecond): // the write waits for the sync, as it must
			}
		})}
		cfg := w.Sync.SyncConfig
		cfg.Topics = &slow
		if _, err := topics.NewSync(cfg).Run(t.Context(), w.Org.ID); err != nil {
			t.Fatal(err)
		}
		<-written
		mirrored, err := db.Topics().Topics(t.Context(), w.Org.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, topic := range mirrored {
			if topic.Name == "news" && topic.Default != sending.OptOut {
				t.Errorf("the default of news is %s, as before the write", topic.Default)
			}
		}
	})
}
