package unsubscribe_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// subscriptions is a contact's choices about topics.
type subscriptions = map[string]sending.Subscription

// TestUnsubscribeAndUndo unsubscribes twice by the links of both kinds, and subscribes
// again. It checks the visit, the mirror, the sending account and the events.
func TestUnsubscribeAndUndo(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for _, topic := range []string{"", "news", "offers"} {
			w := newWorld(t, db)
			v := w.open(t, w.contact, topic)
			if v.IsOut() || !v.IsKnown || v.Email != "a***@x.example" || v.OrgName != w.Org.Name || v.Language != "de" {
				t.Errorf("%q: opened %+v", topic, v)
			}
			want := subscriptions{"offers": sending.OptIn}
			if topic != "" {
				want[topic] = sending.OptOut
			}
			for range 2 {
				w.Advance(time.Minute)
				after, err := w.Unsubscribe.Unsubscribe(t.Context(), v)
				here, account := w.consent(t)
				if err != nil || !after.IsOut() || here.UnsubscribeAll != (topic == "") || account.UnsubscribeAll != here.UnsubscribeAll {
					t.Errorf("%q: %v; the mirror has %+v, the account %+v", topic, err, here, account)
				}
				if !cmp.Equal(want, here.Preferences) || !cmp.Equal(want, account.Preferences) {
					t.Errorf("%q: the mirror has %+v, the account %+v", topic, here, account)
				}
			}
			if events := w.takeEvents(); !cmp.Equal(events, []string{topic + " ada@x.example " + sendID}) {
				t.Errorf("%q: events %q", topic, events)
			}
			if topic != "" {
				want[topic] = sending.OptIn
			}
			after, err := w.Resubscribe(t.Context(), w.open(t, w.contact, topic))
			here, account := w.consent(t)
			if err != nil || after.IsOut() || here.UnsubscribeAll || account.UnsubscribeAll || !cmp.Equal(want, account.Preferences) || len(w.takeEvents()) != 0 {
				t.Errorf("%q: subscribed again: %v; the mirror has %+v, the account %+v", topic, err, here, account)
			}
		}
	})
}

// TestUnsubscribeWhileTheAccountFails checks that the choice counts at once, is reported,
// and reaches the sending account later, also for a topic that the account does not have.
func TestUnsubscribeWhileTheAccountFails(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.Account.Faults().Set(simulator.Fault{Kind: sending.Refused})
		for _, topic := range []string{"news", "deleted", ""} {
			after, err := w.Unsubscribe.Unsubscribe(t.Context(), w.open(t, w.contact, topic))
			if err != nil || !after.IsOut() || !w.open(t, w.contact, topic).IsOut() {
				t.Errorf("%q: %+v, %v", topic, after, err)
			}
		}
		if got := w.takeEvents(); len(got) != 3 {
			t.Errorf("events %q", got)
		}
		w.Account.Faults().Clear()
		if _, err := w.Pushes.Push(t.Context(), w.Org.ID); err != nil {
			t.Fatal(err)
		}
		here, account := w.consent(t)
		want := subscriptions{"news": sending.OptOut, "offers": sending.OptIn}
		if !here.UnsubscribeAll || !account.UnsubscribeAll || !cmp.Equal(want, here.Preferences) || !cmp.Equal(want, account.Preferences) {
			t.Errorf("the mirror has %+v, the account %+v", here, account)
		}
	})
}

// TestUnsubscribeOutlastsTheClient checks that the choice is recorded although the client
// has disconnected.
func TestUnsubscribeOutlastsTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	v := w.open(t, w.contact, "")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	after, err := w.Unsubscribe.Unsubscribe(gone, v)
	here, account := w.consent(t)
	if err != nil || !after.IsOut() || !here.UnsubscribeAll || !account.UnsubscribeAll {
		t.Errorf("%+v, %v; the mirror has %+v, the account %+v", after, err, here, account)
	}
}

// TestSavePreferences checks the choices of the page of preferences and their events.
func TestSavePreferences(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		both := []string{"news", "offers"}
		for _, step := range []struct {
			name   string
			given  unsubscribe.Preferences
			all    bool
			want   subscriptions
			events []string
		}{
			{"nothing changed", unsubscribe.Preferences{Shown: both, In: both, Before: both}, false, subscriptions{"news": sending.OptIn, "offers": sending.OptIn}, nil},
			{"one topic", unsubscribe.Preferences{Shown: both, In: []string{"offers"}, Before: both}, false, subscriptions{"news": sending.OptOut, "offers": sending.OptIn}, []string{"news"}},
			{"an outdated page", unsubscribe.Preferences{Shown: both, In: both, Before: both}, false, subscriptions{"news": sending.OptOut, "offers": sending.OptIn}, nil},
			{"none", unsubscribe.Preferences{None: true, Shown: both, In: both}, true, subscriptions{"news": sending.OptOut, "offers": sending.OptIn}, []string{""}},
			{"none again", unsubscribe.Preferences{None: true}, true, subscriptions{"news": sending.OptOut, "offers": sending.OptIn}, nil},
			{"back", unsubscribe.Preferences{Shown: both, In: []string{"news"}}, false, subscriptions{"news": sending.OptIn, "offers": sending.OptOut}, nil},
			{"foreign topics", unsubscribe.Preferences{Shown: []string{"x", "news"}, In: []string{"x", "offers"}}, false, subscriptions{"news": sending.OptOut, "offers": sending.OptOut}, []string{"news"}},
		} {
			w.Advance(time.Minute)
			after, err := w.SavePreferences(t.Context(), w.open(t, w.contact, "news"), step.given)
			here, account := w.consent(t)
			if err != nil || after.IsOutOfAll != step.all || here.UnsubscribeAll != step.all || account.UnsubscribeAll != step.all ||
				!cmp.Equal(step.want, here.Preferences) || !cmp.Equal(step.want, account.Preferences) {
				t.Errorf("%s: %v; the mirror has %+v, the account %+v", step.name, err, here, account)
			}
			var want []string
			for _, topic := range step.events {
				want = append(want, topic+" ada@x.example "+sendID)
			}
			if diff := cmp.Diff(want, w.takeEvents()); diff != "" {
				t.Errorf("%s: events (-want +got):\n%s", step.name, diff)
			}
		}
	})
}

// TestVisitsOfNoContact checks the links of test mails, of contacts that do not exist, and
// of contacts of another organization: they can be used and change nothing.
func TestVisitsOfNoContact(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	foreign := newWorld(t, w.DB)
	for name, id := range map[string]string{"a test mail": "", "an unknown contact": core.NewID(), "a foreign contact": foreign.contact} {
		v := w.open(t, id, "news")
		if v.IsKnown || v.Email != "" || v.IsTest() != (id == "") || !v.IsOut() || len(v.Topics) != 2 {
			t.Errorf("%s: opened %+v", name, v)
		}
		for action, use := range map[string]func(context.Context, unsubscribe.Visit) (unsubscribe.Visit, error){
			"unsubscribe": w.Unsubscribe.Unsubscribe, "subscribe": w.Resubscribe,
			"save": func(ctx context.Context, v unsubscribe.Visit) (unsubscribe.Visit, error) {
				return w.SavePreferences(ctx, v, unsubscribe.Preferences{None: true})
			},
		} {
			if after, err := use(t.Context(), v); err != nil || after.IsKnown {
				t.Errorf("%s, %s: %+v, %v", name, action, after, err)
			}
		}
	}
	if here, _ := foreign.consent(t); here.UnsubscribeAll || len(here.Preferences) != 1 || len(w.takeEvents())+len(foreign.takeEvents()) != 0 {
		t.Errorf("the foreign contact has %+v", here)
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	for name, token := range map[string]string{"no token": "", "no link": "x"} {
		if v, err := w.Open(t.Context(), token); !core.IsNotFound(err) || v.OrgName != "" {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// TestLinksOfErasedOrganizations checks that links in mail of an organization that was erased
// open a visit, and that using them changes nothing and does not fail.
func TestLinksOfErasedOrganizations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	_, token := linkFor(t, w.Links, otherOrg, unsubscribe.Recipient{ContactID: w.contact})
	v, err := w.Open(t.Context(), token)
	if err != nil || !v.IsGone || v.IsKnown || v.OrgName != "" {
		t.Fatalf("%+v, %v", v, err)
	}
	if after, err := w.Unsubscribe.Unsubscribe(t.Context(), v); err != nil || !after.IsGone {
		t.Errorf("unsubscribe: %+v, %v", after, err)
	}
}

// TestFailedReports checks that a choice is not stored if its event cannot be.
func TestFailedReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	w.failure = errors.New("no room")
	for _, topic := range []string{"", "news"} {
		_, err := w.Unsubscribe.Unsubscribe(t.Context(), w.open(t, w.contact, topic))
		if here, _ := w.consent(t); !errors.Is(err, w.failure) || here.UnsubscribeAll || here.Preferences["news"] != "" {
			t.Errorf("%q: %v, the mirror has %+v", topic, err, here)
		}
	}
}

// TestDeletedContacts checks that the link to a deleted contact finds the contact that has
// the address of the mail, but only for the send that the link names.
func TestDeletedContacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	deleted := core.NewID()
	w.addresses = map[string]string{w.Org.ID + sendID + deleted: "ADA@x.example", w.Org.ID + sendID + orgID: "gone@x.example"}
	after, err := w.Unsubscribe.Unsubscribe(t.Context(), w.open(t, deleted, "news"))
	here, account := w.consent(t)
	if err != nil || !after.IsKnown || here.Preferences["news"] != sending.OptOut || account.Preferences["news"] != sending.OptOut {
		t.Errorf("%+v, %v; the mirror has %+v, the account %+v", after, err, here, account)
	}
	for _, id := range []string{orgID, core.NewID()} {
		if v := w.open(t, id, "news"); v.IsKnown {
			t.Errorf("contact %s: %+v", id, v)
		}
	}
}

// TestStubsReceiveNothing checks the visit of a contact that only an activity named.
func TestStubsReceiveNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	stub, err := contacts.StubOf(core.NewID(), contacts.Claim{Email: "stub@x.example"}, w.Clock())
	must(t, err)
	must(t, w.DB.Contacts().InsertContact(t.Context(), w.Org.ID, stub))
	if v := w.open(t, stub.ID, "news"); !v.IsOut() || !v.IsKnown {
		t.Errorf("opened %+v", v)
	}
}
