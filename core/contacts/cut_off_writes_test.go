package contacts_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var errAway = errors.New("the database went away")

// failTransaction runs an operation whose Prepare writes to the sending account and whose
// transaction then fails. If inside is true, the transaction rolls back at its end;
// otherwise it never begins.
func (b bundle) failTransaction(t *testing.T, name, arguments string, inside bool) {
	t.Helper()
	op := b.Operation(name)
	call := &core.Call{Principal: core.Principal{Org: b.Org}, Surface: b.Surface, Now: b.Clock()}
	defer call.Finish()
	in, err := op.Decode(b.Surface, []byte(arguments))
	if err == nil {
		in, err = op.Prepare(t.Context(), call, in)
	}
	if err != nil {
		t.Fatalf("%s(%s): %v", name, arguments, err)
	}
	if !inside {
		return // as if the process had died here
	}
	err = b.DB.InTx(t.Context(), func(ctx context.Context) error {
		if _, err := op.Do(ctx, call, in); err != nil {
			return err
		}
		return errAway
	})
	if !errors.Is(err, errAway) {
		t.Fatalf("%s(%s): %v", name, arguments, err)
	}
}

// storedOptOuts returns the opt-outs of each address as text: those of the active contacts
// in the database, and those at the sending account.
func (b bundle) storedOptOuts(t *testing.T) (mirror, account map[string]string) {
	t.Helper()
	mirror, account = map[string]string{}, map[string]string{}
	contacts, err := b.DB.Contacts().Contacts(t.Context(), b.Org.ID, contacts.ContactFilter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range contacts {
		mirror[c.Email] = refusals(sending.Contact{UnsubscribeAll: c.UnsubscribeAll, Preferences: preferences(c)})
	}
	page, _, err := b.Account.Contacts(t.Context(), b.Org.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range page {
		account[c.Email] = refusals(c)
	}
	return mirror, account
}

func preferences(c contacts.Contact) map[string]sending.Subscription {
	chosen := map[string]sending.Subscription{}
	for _, p := range c.TopicPreferences {
		chosen[p.Topic] = p.SubscriptionStatus
	}
	return chosen
}

// refusals returns the opt-outs as a fixed text: "subscribed" for none, "no news" for an
// opt-out of the topic news, and "nothing" for the global opt-out.
func refusals(c sending.Contact) string {
	level := "subscribed"
	if c.Preferences["news"] == sending.OptOut {
		level = "no news"
	}
	if c.UnsubscribeAll {
		level = "nothing"
	}
	return level
}

// TestSyncRepairsWritesThatWereCutOff checks the sync after a write that changed the
// sending account and whose transaction failed. After the sync, the active contacts and the
// account agree, and no opt-out is lost. An address that no active contact has is removed
// from the account's contact list, unless the address is opted out.
func TestSyncRepairsWritesThatWereCutOff(t *testing.T) {
	t.Parallel()
	type people = map[string]string
	const ann, old = "ann@example.com", "old@example.com"
	cases := map[string]struct {
		before    [][2]string
		operation string
		arguments string
		mirror    people
		account   people // expected at the sending account; nil if it equals the field mirror
	}{
		"create":              {nil, "contacts_create", `{"email":"ann@example.com"}`, people{ann: "subscribed"}, nil},
		"create, opted out":   {nil, "contacts_upsert", `{"email":"ann@example.com","unsubscribe_all":true}`, people{ann: "nothing"}, nil},
		"create by identify":  {nil, "contacts_identify", `{"email":"ann@example.com"}`, people{ann: "subscribed"}, nil},
		"a preference":        {[][2]string{{"contacts_create", `{"email":"ann@example.com"}`}}, "contacts_update", `{"email":"ann@example.com","topic_preferences":{"news":"OPT_OUT"}}`, people{ann: "no news"}, nil},
		"an opt-out":          {[][2]string{{"contacts_create", `{"email":"ann@example.com"}`}}, "contacts_upsert", `{"email":"ann@example.com","unsubscribe_all":true}`, people{ann: "nothing"}, nil},
		"opted in again":      {[][2]string{{"contacts_create", `{"email":"ann@example.com","unsubscribe_all":true}`}}, "contacts_update", `{"email":"ann@example.com","unsubscribe_all":false}`, people{ann: "subscribed"}, nil},
		"archive":             {[][2]string{{"contacts_create", `{"email":"ann@example.com","topic_preferences":{"news":"OPT_IN"}}`}}, "contacts_archive", `{"email":"ann@example.com"}`, people{ann: "subscribed"}, nil},
		"archive of a shell":  {[][2]string{{"shell", ann}}, "contacts_archive", `{"email":"ann@example.com"}`, people{ann: "subscribed"}, nil},
		"archive by id":       {[][2]string{{"contacts_upsert", `{"email":"ann@example.com","external_id":"e"}`}}, "contacts_archive_by_external_id", `{"external_id":"e"}`, people{ann: "subscribed"}, nil},
		"back from archive":   {[][2]string{{"contacts_create", `{"email":"ann@example.com"}`}, {"contacts_archive", `{"email":"ann@example.com"}`}}, "contacts_create", `{"email":"ann@example.com"}`, people{}, nil},
		"back, opted out":     {[][2]string{{"contacts_create", `{"email":"ann@example.com"}`}, {"contacts_archive", `{"email":"ann@example.com"}`}}, "contacts_create", `{"email":"ann@example.com","unsubscribe_all":true}`, people{}, people{ann: "nothing"}},
		"back, opted in":      {[][2]string{{"contacts_create", `{"email":"ann@example.com","unsubscribe_all":true}`}, {"contacts_archive", `{"email":"ann@example.com"}`}}, "contacts_create", `{"email":"ann@example.com","unsubscribe_all":false}`, people{}, people{ann: "nothing"}},
		"a move":              {[][2]string{{"contacts_upsert", `{"email":"old@example.com","external_id":"e"}`}}, "contacts_upsert", `{"email":"ann@example.com","external_id":"e"}`, people{old: "subscribed"}, nil},
		"a move of a refuser": {[][2]string{{"contacts_upsert", `{"email":"old@example.com","external_id":"e","topic_preferences":{"news":"OPT_OUT"}}`}}, "contacts_upsert", `{"email":"ann@example.com","external_id":"e"}`, people{old: "no news"}, nil},
		"a move, opted out":   {[][2]string{{"contacts_upsert", `{"email":"old@example.com","external_id":"e"}`}}, "contacts_upsert", `{"email":"ann@example.com","external_id":"e","unsubscribe_all":true}`, people{old: "nothing", ann: "nothing"}, nil},
		"a move onto a shell": {[][2]string{{"contacts_upsert", `{"email":"old@example.com","external_id":"e"}`}, {"shell", ann}}, "contacts_upsert", `{"email":"ann@example.com","external_id":"e"}`, people{old: "subscribed", ann: "subscribed"}, nil},
	}
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for name, tc := range cases {
			for _, inside := range []bool{false, true} {
				t.Run(name, func(t *testing.T) {
					b := setupOn(t, db)
					b.runSteps(t, tc.before)
					if tc.operation == "contacts_upsert" {
						b.Surface = core.Agent
					}
					b.failTransaction(t, tc.operation, tc.arguments, inside)
					b.Advance(time.Second)
					// The write is one second old. A sync cannot know whether it is still
					// running, so this sync must not repair it yet.
					if _, err := b.Sync.Run(t.Context(), b.Org.ID); err != nil {
						t.Fatal(err)
					}
					b.SyncLater(t)
					account := tc.account
					if account == nil {
						account = tc.mirror
					}
					inMirror, atAccount := b.storedOptOuts(t)
					if diff := cmp.Diff(tc.mirror, inMirror); diff != "" {
						t.Errorf("inside %t: mirror (-want +got):\n%s", inside, diff)
					}
					if diff := cmp.Diff(account, atAccount); diff != "" {
						t.Errorf("inside %t: account (-want +got):\n%s", inside, diff)
					}
					if again := b.SyncLater(t); again.Pushed+again.Created+again.Updated+again.Repaired != 0 {
						t.Errorf("inside %t: the next sync did %+v", inside, again)
					}
				})
			}
		}
	})
}

// runSteps runs the operations that precede the write under test. A step named "shell" adds
// an address to the sending account and syncs, which creates a contact.
func (b bundle) runSteps(t *testing.T, steps [][2]string) {
	t.Helper()
	for _, step := range steps {
		if step[0] != "shell" {
			b.Want(t, step[0], step[1])
			continue
		}
		if err := b.Account.PutContact(t.Context(), b.Org.ID, sending.Contact{Email: step[1]}); err != nil {
			t.Fatal(err)
		}
		b.SyncLater(t)
	}
	b.Advance(time.Second)
}
