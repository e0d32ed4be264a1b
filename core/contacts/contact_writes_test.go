package contacts_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		got := b.Want(t, "contacts_create", `{"email":"Ann@Example.com","attributes":{"plan":"pro","age":"41","city":null},
			"topic_preferences":[{"topic":"news","subscription_status":"OPT_OUT"}],"lists":{"add":["customers"]}}`)
		if diff := cmp.Diff(map[string]any{"plan": "pro", "age": 41.0}, got["attributes"]); diff != "" {
			t.Error(diff)
		}
		if got["email"] != "Ann@Example.com" || got["status"] != "active" || got["unsubscribe_all"] != false || got["external_id"] != nil {
			t.Errorf("got %v", got)
		}
		if diff := cmp.Diff(map[string]any{"news": "OPT_OUT"}, contactstest.Choices(got)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"customers"}, contactstest.ListKeys(got)); diff != "" {
			t.Error(diff)
		}
		if c, ok := b.AccountContact(t, "ann@example.com"); !ok || c.Preferences["news"] != sending.OptOut {
			t.Errorf("the account holds %+v, %v", c, ok)
		}
		b.Refuse(t, "contacts_create", `{"email":"ann@example.com"}`, core.CodeConflict)
	})
}

func TestReplaceWipesWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Want(t, "contacts_create", `{"email":"a@example.com","attributes":{"age":1,"city":"Rome"},"unsubscribe_all":true,
		"topic_preferences":{"news":"OPT_OUT"},"lists":{"set":["customers","beta"]}}`)
	got := b.Want(t, "contacts_replace", `{"email":"a@example.com","attributes":{"age":2}}`)
	if diff := cmp.Diff(map[string]any{"age": 2.0}, got["attributes"]); diff != "" {
		t.Error(diff)
	}
	if len(contactstest.Choices(got)) != 0 {
		t.Errorf("topics revert to their defaults: %v", contactstest.Choices(got))
	}
	if got["unsubscribe_all"] != true || len(contactstest.ListKeys(got)) != 2 {
		t.Errorf("the opt-out and the lists are untouched when left out: %v", got)
	}
	got = b.Want(t, "contacts_replace", `{"email":"a@example.com","lists":["beta"],"unsubscribe_all":false}`)
	if diff := cmp.Diff([]string{"beta"}, contactstest.ListKeys(got)); diff != "" || got["unsubscribe_all"] != false {
		t.Error(diff, got["unsubscribe_all"])
	}
	if got = b.Want(t, "contacts_replace", `{"email":"a@example.com","lists":[]}`); len(contactstest.ListKeys(got)) != 0 {
		t.Errorf("an empty array clears: %v", contactstest.ListKeys(got))
	}
	if got = b.Want(t, "contacts_replace", `{"email":"new@example.com"}`); got["email"] != "new@example.com" {
		t.Errorf("PUT creates: %v", got)
	}
}

func TestUpdateMerges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Want(t, "contacts_create", `{"email":"a@example.com","attributes":{"age":1,"city":"Rome"},"topic_preferences":{"news":"OPT_OUT"},"lists":{"add":["beta"]}}`)
	got := b.Want(t, "contacts_update", `{"email":"A@example.com","attributes":{"age":null,"plan":"free"},"topic_preferences":{"offers":"OPT_IN"},"lists":{"add":["customers"],"remove":["beta"]}}`)
	if diff := cmp.Diff(map[string]any{"city": "Rome", "plan": "free"}, got["attributes"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"news": "OPT_OUT", "offers": "OPT_IN"}, contactstest.Choices(got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"customers"}, contactstest.ListKeys(got)); diff != "" {
		t.Error(diff)
	}
	b.Refuse(t, "contacts_update", `{"email":"nobody@example.com"}`, core.CodeNotFound)
}

// TestMergeStartsFromTheAccount unsubscribes a person at the sending account. A change of
// another field must keep the opt-outs, although no sync has copied them into the database
// yet.
func TestMergeStartsFromTheAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Want(t, "contacts_create", `{"email":"a@example.com"}`)
	unsubscribed := sending.Contact{Email: "a@example.com", UnsubscribeAll: true, Preferences: map[string]sending.Subscription{"news": sending.OptOut}}
	if err := b.Account.PutContact(t.Context(), b.Org.ID, unsubscribed); err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{"contacts_update", "contacts_upsert"} {
		got := b.Want(t, change, `{"email":"a@example.com","attributes":{"age":3}}`)
		if got["unsubscribe_all"] != true || contactstest.Choices(got)["news"] != "OPT_OUT" {
			t.Errorf("%s lost the opt-out: %v", change, got)
		}
	}
	if got := b.Want(t, "contacts_lookup", `{"email":"a@example.com"}`); got["unsubscribe_all"] != true {
		t.Errorf("a read of one contact is live: %v", got)
	}
}

func TestRefusedWritesChangeNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for arguments, tc := range map[string]struct {
		code   core.Code
		fields []string
	}{
		`{"email":"a@example.com","attributes":{"agee":1,"plan":"gold","city":{"x":1}}}`:                                                                   {core.CodeAttributeValidationFailed, []string{"attributes.agee", "attributes.city", "attributes.plan"}},
		`{"email":"a@example.com","topic_preferences":{"nope":"OPT_IN"}}`:                                                                                  {core.CodeValidationFailed, []string{"topic_preferences.nope"}},
		`{"email":"a@example.com","topic_preferences":{"news":"MAYBE"}}`:                                                                                   {core.CodeValidationFailed, []string{"topic_preferences.news"}},
		`{"email":"a@example.com","lists":{"add":["nope"]}}`:                                                                                               {core.CodeValidationFailed, []string{"lists.add.0"}},
		`{"email":"a@example.com","lists":{"set":[],"add":["beta"]}}`:                                                                                      {core.CodeValidationFailed, []string{"lists"}},
		`{"email":"a@example.com","lists":{"remove":["beta"],"add":["beta"]}}`:                                                                             {core.CodeValidationFailed, []string{"lists.remove"}},
		`{"email":"a@example.com","topic_preferences":[{"topic":"news","subscription_status":"OPT_IN"},{"topic":"news","subscription_status":"OPT_OUT"}]}`: {core.CodeValidationFailed, []string{"topic_preferences.news"}},
		`{"email":"not an address"}`: {core.CodeValidationFailed, []string{"email"}},
	} {
		e := b.Refusal(t, "contacts_create", arguments, tc.code)
		var fields []string
		for _, f := range e.Fields {
			fields = append(fields, f.Field)
		}
		if diff := cmp.Diff(tc.fields, fields); diff != "" {
			t.Errorf("%s: %s", arguments, diff)
		}
	}
	if _, there := b.AccountContact(t, "a@example.com"); there {
		t.Error("the account heard of a refused write")
	}
	b.Refuse(t, "contacts_lookup", `{"email":"a@example.com"}`, core.CodeNotFound)
}

func TestAccountFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind   sending.FailureKind
		status int
	}{
		"refused":   {sending.Refused, 503},
		"throttled": {sending.Throttled, 503},
		"timed out": {sending.TimedOut, 504},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.Want(t, "contacts_create", `{"email":"a@example.com"}`)
			b.Account.Faults().Set(simulator.Fault{Kind: tc.kind})
			for _, call := range []string{"contacts_lookup", "contacts_create", "contacts_replace", "contacts_update", "contacts_upsert", "contacts_archive"} {
				arguments := `{"email":"a@example.com"}`
				if call == "contacts_create" {
					arguments = `{"email":"b@example.com"}`
				}
				e := b.Refusal(t, call, arguments, core.CodeUpstreamUnavailable)
				if e.HTTPStatus() != tc.status || e.RetryAfter == 0 {
					t.Errorf("%s: status %d, retry after %v", call, e.HTTPStatus(), e.RetryAfter)
				}
			}
			b.Account.Faults().Clear()
			b.Refuse(t, "contacts_lookup", `{"email":"b@example.com"}`, core.CodeNotFound)
			if got := b.Want(t, "contacts_lookup", `{"email":"a@example.com"}`); got["status"] != "active" {
				t.Errorf("half an archiving: %v", got)
			}
		})
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.Want(t, "contacts_create", `{"email":"a@example.com","attributes":{"age":4},"lists":{"add":["beta","customers"]}}`)
		got := b.Want(t, "contacts_archive", `{"email":"a@example.com"}`)
		if got["archived"] != true {
			t.Errorf("got %v", got)
		}
		if _, there := b.AccountContact(t, "a@example.com"); there {
			t.Error("the account still lists the address")
		}
		after := b.Want(t, "contacts_lookup", `{"email":"a@example.com"}`)
		if after["status"] != "archived" || after["lists"] == nil || len(contactstest.ListKeys(after)) != 0 {
			t.Errorf("after: %v", after)
		}
		for _, again := range []string{`{"email":"a@example.com"}`, `{"email":"nobody@example.com"}`} {
			if got := b.Want(t, "contacts_archive", again); got["archived"] != false {
				t.Errorf("%s: %v", again, got)
			}
		}
		b.Refuse(t, "contacts_update", `{"email":"a@example.com"}`, core.CodeConflict)
		back := b.Want(t, "contacts_create", `{"email":"a@example.com"}`)
		if back["id"] != after["id"] || back["status"] != "active" || len(back["attributes"].(map[string]any)) != 0 {
			t.Errorf("taken back into use: %v", back)
		}
	})
}

// TestAnOptOutOutlivesArchiving checks that archiving leaves an opt-out at the sending
// account, and that reactivating the contact does not remove it.
func TestAnOptOutOutlivesArchiving(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Want(t, "contacts_create", `{"email":"a@example.com","unsubscribe_all":true}`)
	b.Want(t, "contacts_archive", `{"email":"a@example.com"}`)
	if c, there := b.AccountContact(t, "a@example.com"); !there || !c.UnsubscribeAll {
		t.Errorf("the account forgot the opt-out: %+v %v", c, there)
	}
	if got := b.Want(t, "contacts_replace", `{"email":"a@example.com"}`); got["unsubscribe_all"] != true {
		t.Errorf("got %v", got)
	}
	if got := b.Want(t, "contacts_update", `{"email":"a@example.com","unsubscribe_all":false}`); got["unsubscribe_all"] != false {
		t.Errorf("only saying so lifts it: %v", got)
	}
}

func TestConcurrentWritersTakeTurns(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		var wait sync.WaitGroup
		var mu sync.Mutex
		created := 0
		for range 20 {
			wait.Go(func() {
				_, err := b.Run(t.Context(), "contacts_create", `{"email":"a@example.com"}`)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					created++
				case err.Code != core.CodeConflict:
					t.Errorf("error = %v", err)
				}
			})
		}
		for _, topic := range []string{"news", "offers"} {
			wait.Go(func() {
				_, err := b.Run(t.Context(), "contacts_upsert", `{"email":"b@example.com","topic_preferences":{"`+topic+`":"OPT_OUT"}}`)
				if err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if created != 1 {
			t.Errorf("%d creations of one address", created)
		}
		if got := b.Want(t, "contacts_lookup", `{"email":"b@example.com"}`); len(contactstest.Choices(got)) != 2 {
			t.Errorf("a choice was lost: %v", got)
		}
	})
}

func TestAWaiterLeavesWithItsCaller(t *testing.T) {
	t.Parallel()
	b := setup(t)
	entered := make(chan struct{})
	held, cancelHolder := contextPair(t)
	b.Account.Faults().Set(simulator.Fault{Method: simulator.MethodPutContact, Delay: simulator.Forever, Times: 1})
	var wait sync.WaitGroup
	wait.Go(func() {
		close(entered)
		_, _ = b.Run(held, "contacts_create", `{"email":"a@example.com"}`)
	})
	<-entered
	gone, leave := contextPair(t)
	leave()
	_, err := b.Run(gone, "contacts_create", `{"email":"a@example.com"}`)
	if err == nil {
		t.Error("a caller who has gone is not served")
	}
	cancelHolder()
	wait.Wait()
	b.Account.Faults().Clear()
	b.Want(t, "contacts_create", `{"email":"a@example.com"}`)
}
