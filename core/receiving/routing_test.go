package receiving_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestLifeOfADomain checks what is accepted from the registration of a domain to the end of the
// time after its deletion.
func TestLifeOfADomain(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		want := func(kind inbound.Kind, refusal inbound.Refusal) {
			t.Helper()
			w.Publish(t)
			route, got, err := w.Router.Route(t.Context(), "Support@IN.example.com")
			if err != nil || got != refusal || route.Kind != kind {
				t.Errorf("%+v, %v, %v; want %q, %v", route, got, err, kind, refusal)
			}
		}
		want("", inbound.NotOurs)
		id := w.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`)["id"].(string)
		want("", inbound.NotOurs)
		w.Want(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`"}`)
		want("", inbound.NotOurs)
		if got := webhook(t, w); got["status"] != "pending" || got["published_at"] != nil {
			t.Errorf("not verified, and %v", got)
		}
		w.Names.Publish("MX", "in.example.com", "10 "+receivingtest.MailHost)
		w.Want(t, "inbound_domains_verify", `{"domain":"in.example.com"}`)
		want(inbound.ToDomain, inbound.Accepted)
		if got := webhook(t, w); got["status"] != "published" || got["published_at"] == nil {
			t.Errorf("%v", got)
		}
		route, _, err := w.Router.Route(t.Context(), "Support@IN.example.com")
		if err != nil || route != (inbound.Route{
			Kind: inbound.ToDomain, OrgID: w.OrgID, TargetID: id, Recipient: "Support@IN.example.com", LocalPart: "support", Domain: "in.example.com",
		}) {
			t.Errorf("%+v, %v", route, err)
		}
		w.Want(t, "inbound_webhook_delete", `{"domain":"in.example.com"}`)
		want(inbound.ToDomain, inbound.Accepted)
		w.Want(t, "inbound_domains_delete", `{"domain":"in.example.com"}`)
		want(inbound.ToDeletedDomain, inbound.Accepted)
		w.Advance(receiving.Remembered - time.Minute)
		want(inbound.ToDeletedDomain, inbound.Accepted)
		w.Advance(2 * time.Minute)
		want("", inbound.NotOurs)
		if err := db.ReceivingRoutes().Forget(t.Context(), w.OrgID, w.Clock().Add(-receiving.Remembered)); err != nil {
			t.Fatal(err)
		}
		left, err := db.ReceivingRoutes().Since(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if e.OrgID == w.OrgID {
				t.Errorf("left: %+v", e)
			}
		}
	})
}

// webhook returns the webhook of in.example.com.
func webhook(t *testing.T, w *receivingtest.World) map[string]any {
	t.Helper()
	return w.Want(t, "inbound_domains_get", `{"domain":"in.example.com"}`)["webhook"].(map[string]any)
}

// TestDomainOfAnotherOrganization checks that a domain that changes hands is received for its
// new organization, whatever is published first.
func TestDomainOfAnotherOrganization(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, "")
		w.Want(t, "inbound_domains_delete", `{"domain":"in.example.com"}`)
		other := receivingtest.New(t, w.DB)
		id, _ := other.Open(t, hook, "") // publishes both
		if err := w.Router.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		route, refusal, err := w.Router.Route(t.Context(), "x@in.example.com")
		if err != nil || refusal != inbound.Accepted || route.OrgID != other.OrgID || route.TargetID != id || route.Kind != inbound.ToDomain {
			t.Errorf("%+v, %v, %v", route, refusal, err)
		}
	})
}

// TestRevalidation checks that a webhook is judged again when it is published.
func TestRevalidation(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, "")
		// Another change publishes the domain again, while no name server answers.
		w.Names.SetHost(hook, standardhooks.NotConnected)
		w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com","local_part":"x"}`)
		w.Publish(t)
		if got := webhook(t, w); got["status"] != "published" {
			t.Errorf("%v", got)
		}
		w.Names.SetHost(hook, standardhooks.RefusedAddress)
		w.Publish(t) // it rests
		w.Advance(time.Minute)
		w.Publish(t)
		if got := webhook(t, w); got["status"] != "invalid" || !strings.Contains(got["error"].(string), "public Internet") {
			t.Errorf("%v", got)
		}
		document, found, err := db.ReceivedDeliveries().Published(t.Context(), receiving.Target{OrgID: w.OrgID, DomainID: domainID(t, w)})
		if err != nil || !found || document.Routed {
			t.Errorf("%+v, %v, %v", document, found, err)
		}
		w.Names.SetHost(hook, standardhooks.NoProblem)
		w.Want(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`"}`)
		w.Publish(t)
		if got := webhook(t, w); got["status"] != "published" || got["error"] != nil {
			t.Errorf("%v", got)
		}
	})
}

func domainID(t *testing.T, w *receivingtest.World) string {
	t.Helper()
	return w.Want(t, "inbound_domains_get", `{"domain":"in.example.com"}`)["id"].(string)
}

// TestLateChange checks that a change during a publication is published too.
func TestLateChange(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		id, _ := w.Open(t, hook, "")
		w.Want(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`","allow_patterns":["old"]}`)
		store, target := db.ReceivingRoutes(), receiving.Target{OrgID: w.OrgID, DomainID: id}
		stale, found, err := store.Change(t.Context(), target)
		if err != nil || !found {
			t.Fatal(found, err)
		}
		w.Want(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`","allow_patterns":["new"]}`)
		if err := store.Publish(t.Context(), receiving.Publication{Change: stale, At: w.Clock()}); err != nil {
			t.Fatal(err)
		}
		w.Publish(t)
		document, _, err := db.ReceivedDeliveries().Published(t.Context(), target)
		if err != nil || len(document.Patterns) != 1 || document.Patterns[0] != "new" {
			t.Errorf("%+v, %v", document, err)
		}
		if _, found, err := store.Change(t.Context(), target); found || err != nil {
			t.Errorf("still to be published: %v, %v", found, err)
		}
	})
}

// failing is a store that cannot be read.
type failing struct{ receiving.RoutingStore }

func (failing) Since(context.Context, int) ([]receiving.RouteEntry, error) {
	return nil, errors.New("no database")
}

// TestRouterWithoutADatabase checks that a router that has read nothing refuses nothing.
func TestRouterWithoutADatabase(t *testing.T) {
	t.Parallel()
	r := receiving.NewRouter(failing{}, time.Now, slog.New(slog.DiscardHandler))
	if _, _, err := r.Route(t.Context(), "x@in.example.com"); err == nil {
		t.Error("no error, so the sender would be refused for good")
	}
	for _, address := range []string{"", "x", "@in.example.com", "x@"} {
		if _, refusal, err := r.Route(t.Context(), address); refusal != inbound.NotOurs || err != nil {
			t.Errorf("%q: %v, %v", address, refusal, err)
		}
	}
}

// TestRoutesAskNoDatabase checks that a router that was read answers from memory, and that a
// deaf database does not change what it knows.
func TestRoutesAskNoDatabase(t *testing.T) {
	t.Parallel()
	store := &counting{entries: []receiving.RouteEntry{
		{Target: receiving.Target{OrgID: "o", DomainID: "d"}, Name: "in.example.com", Version: 3},
		{Target: receiving.Target{OrgID: "o", DomainID: "e"}, Name: "xn--mller-kva.example.com", Version: 4},
	}}
	r := receiving.NewRouter(store, time.Now, slog.New(slog.DiscardHandler))
	for _, address := range []string{"x@in.example.com", "x@IN.EXAMPLE.COM.", "x@müller.example.com", `"a@b"@in.example.com`} {
		if _, refusal, err := r.Route(t.Context(), address); refusal != inbound.Accepted || err != nil {
			t.Errorf("%s: %v, %v", address, refusal, err)
		}
	}
	if store.reads != 1 || store.since != 0 {
		t.Errorf("%d reads since %d", store.reads, store.since)
	}
	if err := r.Refresh(t.Context()); err != nil || store.since != 4 {
		t.Errorf("read since %d, %v", store.since, err)
	}
	ticks, ctx := make(chan time.Time), t.Context()
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { r.Follow(ctx, ticks); close(ended) }()
	ticks <- time.Time{}
	ticks <- time.Time{} // the look of the first tick has ended
	cancel()
	<-ended
	if store.reads < 4 {
		t.Errorf("%d reads", store.reads)
	}
}

// counting counts how often it is read. Only one goroutine reads at a time.
type counting struct {
	receiving.RoutingStore
	entries      []receiving.RouteEntry
	reads, since int
}

func (c *counting) Since(_ context.Context, version int) ([]receiving.RouteEntry, error) {
	c.reads++
	c.since = version
	if version > 0 {
		return nil, nil
	}
	return c.entries, nil
}
