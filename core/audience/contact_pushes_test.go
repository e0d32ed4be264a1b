package audience_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func (b *bundle) push(t *testing.T) audience.PushReport {
	t.Helper()
	report, err := b.audience.Push(t.Context(), b.org.ID)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// atTheAccount changes a contact at the account, as a person who unsubscribes does.
func (b *bundle) atTheAccount(t *testing.T, c sending.Contact) {
	t.Helper()
	if err := b.account.PutContact(t.Context(), b.org.ID, c); err != nil {
		t.Fatal(err)
	}
}

// An opt-out at the account overrides everything that was not stated here, and what was
// stated before it.
func TestPushesNeverLowerConsent(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.synced(t)
		out := map[string]sending.Subscription{"news": sending.OptOut, "offers": sending.OptOut}
		for _, email := range []string{"unsaid@x.example", "said@x.example"} {
			b.atTheAccount(t, sending.Contact{Email: email, UnsubscribeAll: true, Preferences: out})
		}
		b.advance(time.Minute)
		id := b.accept(t,
			`{"email":"unsaid@x.example"}`,
			`{"email":"said@x.example","unsubscribe_all":false,"topic_preferences":{"news":"OPT_IN"}}`,
			`{"email":"later@x.example","unsubscribe_all":false,"topic_preferences":{"news":"OPT_IN","offers":"OPT_IN"}}`)
		b.accepted(t, id)
		b.advance(time.Minute)
		b.atTheAccount(t, sending.Contact{Email: "later@x.example", UnsubscribeAll: true, Preferences: map[string]sending.Subscription{"news": sending.OptOut}})
		b.advance(time.Minute)
		// A later row that states nothing about consent does not renew the statement.
		b.accepted(t, b.accept(t, `{"email":"later@x.example","attributes":{"age":1}}`))

		shown := b.want(t, "contacts_lookup", `{"email":"later@x.example"}`)
		if shown["unsubscribe_all"] != true || choices(shown)["news"] != "OPT_OUT" {
			t.Errorf("before the account is told: %v", shown)
		}
		if report := b.push(t); report != (audience.PushReport{Settled: 3}) {
			t.Errorf("%+v", report)
		}
		for email, want := range map[string]sending.Contact{
			"unsaid@x.example": {UnsubscribeAll: true, Preferences: out},
			"said@x.example":   {Preferences: map[string]sending.Subscription{"news": sending.OptIn, "offers": sending.OptOut}},
			"later@x.example":  {UnsubscribeAll: true, Preferences: map[string]sending.Subscription{"news": sending.OptOut, "offers": sending.OptIn}},
		} {
			got, _ := b.atAccount(t, email)
			mirrored, err := db.Audience().ContactByEmail(t.Context(), b.org.ID, email)
			if err != nil || got.UnsubscribeAll != want.UnsubscribeAll || !cmp.Equal(got.Preferences, want.Preferences) ||
				mirrored.UnsubscribeAll != want.UnsubscribeAll || len(mirrored.TopicPreferences) != len(want.Preferences) {
				t.Errorf("%s: account %+v, here %+v", email, got, mirrored)
			}
		}
		if n, err := db.Audience().CountPushes(t.Context(), b.org.ID); n != 0 || err != nil {
			t.Errorf("%d pushes wait, %v", n, err)
		}
	})
}

// A push that the account does not accept waits, longer after each attempt, and is not
// lost. A sync in between does not undo the consent.
func TestPushesWaitForTheAccount(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.synced(t)
		b.atTheAccount(t, sending.Contact{Email: "a@x.example"})
		b.synced(t)
		b.advance(time.Minute)
		b.accepted(t, b.accept(t, `{"email":"a@x.example","unsubscribe_all":true}`))
		b.account.Faults().Set(simulator.Fault{Method: simulator.MethodPutContacts, Kind: sending.Throttled})
		if report := b.push(t); report != (audience.PushReport{PutOff: 1}) {
			t.Errorf("%+v", report)
		}
		b.account.Faults().Set()
		if report := b.push(t); report != (audience.PushReport{}) {
			t.Errorf("tried again at once: %+v", report)
		}
		b.advance(time.Minute)
		b.synced(t)
		if c, err := db.Audience().ContactByEmail(t.Context(), b.org.ID, "a@x.example"); err != nil || !c.UnsubscribeAll {
			t.Errorf("a sync took back what the account does not know yet: %+v, %v", c, err)
		}
		other := audience.New(b.audience.Config) // another process
		if report, err := other.Push(t.Context(), b.org.ID); err != nil || report != (audience.PushReport{Settled: 1}) {
			t.Errorf("%+v, %v", report, err)
		}
		if c, _ := b.atAccount(t, "a@x.example"); !c.UnsubscribeAll {
			t.Errorf("the account was not told: %+v", c)
		}
	})
}
