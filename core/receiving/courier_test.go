package receiving_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/objectstest"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// TestDelivery checks the request of a delivery: its body, the links in it, and its signature
// with the library of the specification.
func TestDelivery(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		_, secret := w.Open(t, hook, "")
		w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com","local_part":"order-1","metadata":{"order":1}}`)
		w.Publish(t)
		m := w.Message(core.NewID())
		m.StoreID, m.RawKey = objects.FilesID, objects.RawKey(w.OrgID, m.ID)
		m.HTML, m.HTMLKey = "", objects.HTMLKey(w.OrgID, m.ID)
		m.Attachments = []inbound.File{{Filename: "a.pdf", ContentType: "application/pdf", Size: 3, Key: objects.AttachmentKey(w.OrgID, m.ID, 0)}}
		w.Receive(t, m, "ORDER-1@in.example.com", "x@in.example.com")
		w.Send(t)
		sent := w.Endpoint.Requests()
		if len(sent) != 1 || sent[0].URL != hook || len(sent[0].Secrets) != 1 || sent[0].Secrets[0] != secret {
			t.Fatalf("%v", sent)
		}
		got := body(t, sent[0])
		if got["domain"] != "in.example.com" || got["schema_version"] != 1.0 || got["message_id"] != m.ID || got["test"] != nil ||
			!cmp.Equal(got["entities"], map[string]any{"order-1": map[string]any{"order": 1.0}}) || !cmp.Equal(got["recipients"], []any{"ORDER-1@in.example.com", "x@in.example.com"}) {
			t.Errorf("%v", got)
		}
		message := got["message"].(map[string]any)
		for _, link := range []any{got["raw_url"], message["html_body_url"], message["attachments"].([]any)[0].(map[string]any)["url"]} {
			if !strings.HasPrefix(link.(string), "https://fetch.test/") {
				t.Errorf("link %v", link)
			}
		}
		signature, err := standardhooks.Sign(sent[0].ID, time.Now(), sent[0].Body, sent[0].Secrets...)
		if err != nil {
			t.Fatal(err)
		}
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{"Webhook-Id": {sent[0].ID}, "Webhook-Timestamp": {strconv.FormatInt(time.Now().Unix(), 10)}, "Webhook-Signature": {signature}}
		if err := verifier.Verify(sent[0].Body, header); err != nil {
			t.Error(err)
		}
		row := log(t, w)[0]
		if row.ID != sent[0].ID || row.Outcome != receiving.Delivered {
			t.Errorf("%+v", row)
		}
		w.Advance(time.Hour)
		w.Send(t)
		if len(w.Endpoint.Requests()) != 1 {
			t.Error("delivered twice")
		}
	})
}

// TestSchedule checks when a failed delivery is tried again, what is logged, and that a
// person can have it sent again with all its tries.
func TestSchedule(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, "")
		w.Endpoint.Answer(func(standardhooks.Request) standardhooks.Answer {
			if len(w.Endpoint.Requests()) == 2 {
				return standardhooks.Answer{Problem: standardhooks.TimedOut}
			}
			return standardhooks.Answer{Status: 503, Text: "busy"}
		})
		w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
		id := log(t, w)[0].ID
		due := []time.Duration{0, time.Second, 5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 8 * time.Hour}
		for i, wait := range due {
			if wait > 0 {
				w.Advance(wait - time.Millisecond)
				w.Send(t)
				if got := len(w.Endpoint.Requests()); got != i {
					t.Fatalf("attempt %d came %s too early", got, wait)
				}
				w.Advance(time.Millisecond)
			}
			w.Send(t)
			if got := len(w.Endpoint.Requests()); got != i+1 {
				t.Fatalf("%d attempts after %s, want %d", got, wait, i+1)
			}
		}
		all := states(t, w, id)
		if len(all) != 9 || all[1].State != receiving.Retrying || *all[1].HTTPStatus != 503 || !strings.Contains(all[1].Detail, "busy") ||
			all[2].HTTPStatus != nil || all[8].State != receiving.DeliveryFailed || log(t, w)[0].Outcome != receiving.DeliveryFailed {
			t.Errorf("%+v", all)
		}
		w.Advance(24 * time.Hour)
		w.Send(t)
		if got := len(w.Endpoint.Requests()); got != len(due) {
			t.Errorf("%d attempts", got)
		}
		for _, r := range w.Endpoint.Requests() {
			if r.ID != id {
				t.Errorf("another webhook-id: %s", r.ID)
			}
		}
		if d, err := db.ReceivingDomains().Domain(t.Context(), w.OrgID, "in.example.com"); err != nil || d.FailingSince == nil || !d.FailingSince.Equal(receivingtest.Start) {
			t.Errorf("%v, %v", d.FailingSince, err)
		}
		w.Endpoint.Answer(nil)
		if err := w.Desk.Resend(t.Context(), operator, w.OrgID, id); err != nil {
			t.Fatal(err)
		}
		w.Send(t)
		if got := outcomes(t, w, id); !slices.Equal(got[9:], []receiving.Outcome{receiving.Retrying, receiving.Delivered}) {
			t.Errorf("%v", got)
		}
		if d, err := db.ReceivingDomains().Domain(t.Context(), w.OrgID, "in.example.com"); err != nil || d.FailingSince != nil {
			t.Errorf("%v, %v", d.FailingSince, err)
		}
	})
}

// TestInFlight checks that at most four deliveries are sent to one endpoint at the same time,
// also by two processes, that each message is delivered, and that a hanging endpoint does not
// delay another organization's.
func TestInFlight(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w, other := receivingtest.New(t, db), receivingtest.New(t, db)
		w.Open(t, hook, "")
		const messages = 40
		for range messages {
			w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
		}
		other.Want(t, "inbound_domains_create", `{"domain":"other.example.com"}`)
		other.Names.Publish("MX", "other.example.com", "10 "+receivingtest.MailHost)
		other.Want(t, "inbound_domains_verify", `{"domain":"other.example.com"}`)
		other.Want(t, "inbound_webhook_replace", `{"domain":"other.example.com","webhook_url":"`+hook+`/other"}`)
		other.Publish(t)
		other.Receive(t, other.Message(core.NewID()), "y@other.example.com")

		var mu sync.Mutex
		inFlight, most, delivered := 0, 0, make(chan struct{})
		blocked := make(chan struct{})
		post := func(r standardhooks.Request) standardhooks.Answer {
			if strings.HasSuffix(r.URL, "/other") {
				close(delivered)
				return standardhooks.Answer{Status: 200}
			}
			mu.Lock()
			inFlight++
			most = max(most, inFlight)
			mu.Unlock()
			<-blocked
			mu.Lock()
			inFlight--
			mu.Unlock()
			return standardhooks.Answer{Status: 200}
		}
		w.Endpoint.Answer(post)
		other.Endpoint.Answer(post)
		var couriers sync.WaitGroup
		for _, one := range []*receivingtest.World{w, other} {
			couriers.Go(func() {
				if err := one.Courier.SendDue(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		<-delivered // although the other endpoint hangs
		close(blocked)
		couriers.Wait()
		w.Send(t)
		if most > receiving.InFlight || most < 1 {
			t.Errorf("%d in flight", most)
		}
		ids := map[string]bool{}
		for _, r := range append(w.Endpoint.Requests(), other.Endpoint.Requests()...) {
			if ids[r.ID] {
				t.Errorf("%s was sent twice", r.ID)
			}
			ids[r.ID] = true
		}
		if len(ids) != messages+1 {
			t.Errorf("%d messages delivered", len(ids))
		}
	})
}

// TestLostLease checks that the result of a process that was taken for dead changes nothing.
func TestLostLease(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, "")
		w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
		queue := db.ReceivedDeliveries()
		due, err := queue.Due(t.Context(), false, w.Clock(), 10)
		if err != nil || len(due) != 1 {
			t.Fatal(due, err)
		}
		first, leased, err := queue.Lease(t.Context(), due[0], w.Clock(), w.Clock().Add(time.Minute))
		if err != nil || !leased {
			t.Fatal(leased, err)
		}
		if _, leased, err := queue.Lease(t.Context(), due[0], w.Clock(), w.Clock().Add(time.Minute)); leased || err != nil {
			t.Errorf("leased twice: %v", err)
		}
		items, err := queue.Items(t.Context(), first, w.Clock(), nil, 10)
		if err != nil || len(items) != 1 {
			t.Fatal(items, err)
		}
		w.Advance(2 * time.Minute)
		w.Send(t)
		w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
		if left, err := queue.Items(t.Context(), first, w.Clock(), nil, 10); len(left) > 0 || err != nil {
			t.Errorf("deliveries after a lost lease: %v, %v", left, err)
		}
		late := receiving.Result{Target: first.Target, Item: items[0], Failed: true, State: receiving.State{State: receiving.DeliveryFailed, OccurredAt: w.Clock()}}
		if err := queue.Settle(t.Context(), []receiving.Result{late}); err != nil {
			t.Fatal(err)
		}
		if got := log(t, w)[1]; got.Outcome != receiving.Delivered || len(states(t, w, got.ID)) != 2 {
			t.Errorf("%+v", got)
		}
	})
}

// TestEndedDeliveries checks that nothing is sent to a webhook after it was removed, and that
// messages say why.
func TestEndedDeliveries(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for _, call := range []string{"inbound_webhook_delete", "inbound_domains_delete"} {
			w := receivingtest.New(t, db)
			w.Open(t, hook, "")
			m := w.Message(core.NewID())
			m.StoreID, m.RawKey = objects.FilesID, objects.RawKey(w.OrgID, m.ID)
			store, err := w.Stores.Of(t.Context(), w.OrgID)
			if err != nil {
				t.Fatal(err)
			}
			objectstest.Put(t, store, m.RawKey, "raw")
			w.Receive(t, m, "x@in.example.com")
			w.Want(t, call, `{"domain":"in.example.com"}`)
			w.Send(t)
			row := log(t, w)[0]
			if all := states(t, w, row.ID); row.Outcome != receiving.DeliveryFailed || len(w.Endpoint.Requests()) != 0 || all[len(all)-1].Detail == "" {
				t.Errorf("%s: %+v", call, row)
			}
			w.Advance(time.Second)
			w.Purge(t)
			deletes := call == "inbound_domains_delete"
			if _, there := objectstest.Content(t, store, m.RawKey); there == deletes {
				t.Errorf("%s: the objects are there: %v", call, there)
			}
			if !deletes {
				w.Want(t, "inbound_domains_delete", `{"domain":"in.example.com"}`)
			}
			w.Publish(t)
		}
	})
}

// TestFailingStore checks that a delivery without links is tried again, and is not blamed on the
// endpoint.
func TestFailingStore(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, "")
		m := w.Message(core.NewID())
		m.StoreID, m.RawKey = "bucket-of-yesterday", objects.RawKey(w.OrgID, m.ID)
		w.Receive(t, m, "x@in.example.com")
		w.Send(t)
		d, err := w.DB.ReceivingDomains().Domain(t.Context(), w.OrgID, "in.example.com")
		if got := log(t, w)[0]; err != nil || got.Outcome != receiving.Retrying || d.FailingSince != nil || len(w.Endpoint.Requests()) != 0 {
			t.Errorf("%+v, %+v, %v", got, d, err)
		}
	})
}
