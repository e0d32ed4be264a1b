package bulk_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func (b bundle) push(t *testing.T) bulk.PushReport {
	t.Helper()
	report, err := b.Pushes.Push(t.Context(), b.Org.ID)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestPushesNeverLowerConsent checks that a push does not remove an opt-out that the
// sending account has, unless a bulk row stated another choice after the opt-out.
func TestPushesNeverLowerConsent(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.SyncNow(t)
		out := map[string]sending.Subscription{"news": sending.OptOut, "offers": sending.OptOut}
		for _, email := range []string{"unsaid@x.example", "said@x.example"} {
			b.PutAtAccount(t, sending.Contact{Email: email, UnsubscribeAll: true, Preferences: out})
		}
		b.Advance(time.Minute)
		id := b.AcceptRows(t,
			`{"email":"unsaid@x.example"}`,
			`{"email":"said@x.example","unsubscribe_all":false,"topic_preferences":{"news":"OPT_IN"}}`,
			`{"email":"later@x.example","unsubscribe_all":false,"topic_preferences":{"news":"OPT_IN","offers":"OPT_IN"}}`)
		b.FinishRows(t, id)
		b.Advance(time.Minute)
		b.PutAtAccount(t, sending.Contact{Email: "later@x.example", UnsubscribeAll: true, Preferences: map[string]sending.Subscription{"news": sending.OptOut}})
		b.Advance(time.Minute)
		// A later row without consent does not change the time at which the consent was
		// stated.
		b.FinishRows(t, b.AcceptRows(t, `{"email":"later@x.example","attributes":{"age":1}}`))

		shown := b.Want(t, "contacts_lookup", `{"email":"later@x.example"}`)
		if shown["unsubscribe_all"] != true || contactstest.Choices(shown)["news"] != "OPT_OUT" {
			t.Errorf("before the account is told: %v", shown)
		}
		if report := b.push(t); report != (bulk.PushReport{Settled: 3}) {
			t.Errorf("%+v", report)
		}
		for email, want := range map[string]sending.Contact{
			"unsaid@x.example": {UnsubscribeAll: true, Preferences: out},
			"said@x.example":   {Preferences: map[string]sending.Subscription{"news": sending.OptIn, "offers": sending.OptOut}},
			"later@x.example":  {UnsubscribeAll: true, Preferences: map[string]sending.Subscription{"news": sending.OptOut, "offers": sending.OptIn}},
		} {
			got, _ := b.AccountContact(t, email)
			mirrored, err := db.Contacts().ContactByEmail(t.Context(), b.Org.ID, email)
			if err != nil || got.UnsubscribeAll != want.UnsubscribeAll || !cmp.Equal(got.Preferences, want.Preferences) ||
				mirrored.UnsubscribeAll != want.UnsubscribeAll || len(mirrored.TopicPreferences) != len(want.Preferences) {
				t.Errorf("%s: account %+v, here %+v", email, got, mirrored)
			}
			if waits, err := db.Contacts().PendingPush(t.Context(), b.Org.ID, mirrored.ID); waits != nil || err != nil {
				t.Errorf("%s: push %+v waits, %v", email, waits, err)
			}
		}
	})
}

// TestPushesWaitForTheAccount checks that a push that the account does not accept is
// retried after a pause. A sync with the account during the pause must not replace the
// stored consent, which the account does not have yet.
func TestPushesWaitForTheAccount(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.SyncNow(t)
		b.PutAtAccount(t, sending.Contact{Email: "a@x.example"})
		b.SyncNow(t)
		b.Advance(time.Minute)
		b.FinishRows(t, b.AcceptRows(t, `{"email":"a@x.example","unsubscribe_all":true}`))
		b.Account.Faults().Set(simulator.Fault{Method: simulator.MethodPutContacts, Kind: sending.Throttled})
		if report := b.push(t); report != (bulk.PushReport{PutOff: 1}) {
			t.Errorf("%+v", report)
		}
		b.Account.Faults().Set()
		if report := b.push(t); report != (bulk.PushReport{}) {
			t.Errorf("tried again at once: %+v", report)
		}
		b.Advance(time.Minute)
		b.SyncNow(t)
		if c, err := db.Contacts().ContactByEmail(t.Context(), b.Org.ID, "a@x.example"); err != nil || !c.UnsubscribeAll {
			t.Errorf("a sync took back what the account does not know yet: %+v, %v", c, err)
		}
		other := bulk.NewPushes(b.Pushes.PushConfig) // another process
		if report, err := other.Push(t.Context(), b.Org.ID); err != nil || report != (bulk.PushReport{Settled: 1}) {
			t.Errorf("%+v, %v", report, err)
		}
		if c, _ := b.AccountContact(t, "a@x.example"); !c.UnsubscribeAll {
			t.Errorf("the account was not told: %+v", c)
		}
	})
}

// flakyAccount is a sending account that refuses some bulk writes of contacts as throttled:
// those whose number, counted from 1, is in the field throttled.
type flakyAccount struct {
	sending.Account
	throttled []int
	batches   int
}

func (a *flakyAccount) PutContacts(ctx context.Context, org string, put []sending.Contact) ([]*sending.Failure, error) {
	a.batches++
	if slices.Contains(a.throttled, a.batches) {
		return nil, &sending.Failure{Kind: sending.Throttled, Err: errors.New("throttled by the test")}
	}
	return a.Account.PutContacts(ctx, org, put)
}

// TestPushesEndAfterTwoBatchesInARowWithoutSuccess checks that batches that the account
// does not accept end a run only if they directly follow each other.
func TestPushesEndAfterTwoBatchesInARowWithoutSuccess(t *testing.T) {
	t.Parallel()
	const batch = 200
	for name, c := range map[string]struct {
		throttled []int
		want      bulk.PushReport
	}{
		"apart":    {[]int{1, 3}, bulk.PushReport{Settled: 2 * batch, PutOff: 2 * batch}},
		"in a row": {[]int{2, 3}, bulk.PushReport{Settled: batch, PutOff: 2 * batch}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.SyncNow(t)
			var rows []string
			for i := range 4 * batch {
				rows = append(rows, fmt.Sprintf(`{"email":"p%d@x.example"}`, i))
			}
			b.FinishRows(t, b.AcceptRows(t, rows...))
			config := b.Pushes.PushConfig
			config.Account = &flakyAccount{Account: config.Account, throttled: c.throttled}
			report, err := bulk.NewPushes(config).Push(t.Context(), b.Org.ID)
			if err != nil || report != c.want {
				t.Errorf("%+v, %v, want %+v", report, err, c.want)
			}
		})
	}
}

// erasingAccount is a sending account that calls erase when contacts are written, before it has them.
type erasingAccount struct {
	sending.Account
	erase func()
}

func (a erasingAccount) PutContacts(ctx context.Context, org string, put []sending.Contact) ([]*sending.Failure, error) {
	a.erase()
	return a.Account.PutContacts(ctx, org, put)
}

// TestErasedDuringAPush erases one of two persons, as another process can, while their consent is on its way to the
// account. The account must not have the address of the erased person at the end.
func TestErasedDuringAPush(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.SyncNow(t)
		b.FinishRows(t, b.AcceptRows(t, `{"email":"erased@x.example"}`, `{"email":"kept@x.example"}`))
		config := b.Pushes.PushConfig
		config.Account = erasingAccount{config.Account, func() {
			erased, err := db.Contacts().ContactByEmail(t.Context(), b.Org.ID, "erased@x.example")
			if err == nil {
				_, err = db.Writer().ExecContext(t.Context(), `DELETE FROM contacts WHERE id = '`+erased.ID+`'`)
			}
			if err != nil {
				t.Error(err)
			}
		}}
		if report, err := bulk.NewPushes(config).Push(t.Context(), b.Org.ID); err != nil || report.Settled != 1 {
			t.Errorf("%+v, %v", report, err)
		}
		if held, there := b.AccountContact(t, "erased@x.example"); there {
			t.Errorf("the account has %+v", held)
		}
		if _, there := b.AccountContact(t, "kept@x.example"); !there {
			t.Error("the account does not have the other person")
		}
	})
}
