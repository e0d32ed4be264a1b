package receiving_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestStopGivesTheLeaseBack stops a process during an attempt. Another one must be able to send at
// once, and the interrupted attempt is not in the log.
func TestStopGivesTheLeaseBack(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, "")
		w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
		ctx, stop := context.WithCancel(t.Context())
		begun := make(chan struct{}, 1)
		w.Endpoint.Answer(func(standardhooks.Request) standardhooks.Answer {
			begun <- struct{}{}
			<-ctx.Done()
			return standardhooks.Answer{Problem: standardhooks.NotConnected}
		})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.Courier.Run(ctx)
		}()
		<-begun
		stop()
		<-ended
		w.Endpoint.Answer(nil)
		w.Send(t)
		if got := outcomes(t, w, log(t, w)[0].ID); !slices.Equal(got, []receiving.Outcome{receiving.Received, receiving.Delivered}) {
			t.Errorf("%v", got)
		}
	})
}

// TestFailuresOfManyDeliveries checks that single failures stop no other delivery, that several
// in a row do, and which of them the domain notes.
func TestFailuresOfManyDeliveries(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, "")
		const messages = 100
		for range messages {
			w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
			w.Advance(time.Microsecond)
		}
		failing := map[string]bool{}
		for i, m := range log(t, w) {
			failing[m.ID] = i%10 == 5
		}
		w.Endpoint.Answer(func(r standardhooks.Request) standardhooks.Answer {
			if failing[r.ID] {
				return standardhooks.Answer{Status: 500}
			}
			return standardhooks.Answer{Status: 200}
		})
		w.Send(t)
		counts := map[receiving.Outcome]int{}
		for _, m := range log(t, w) {
			counts[m.Outcome]++
		}
		if len(w.Endpoint.Requests()) != messages || counts[receiving.Delivered] != 90 || counts[receiving.Retrying] != 10 {
			t.Errorf("%d requests, %v", len(w.Endpoint.Requests()), counts)
		}
		w.Endpoint.Answer(func(standardhooks.Request) standardhooks.Answer { return standardhooks.Answer{Status: 500} })
		for range messages {
			w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
		}
		w.Send(t)
		// Those in flight when the failures are too many, and one turn of the other lane.
		if got := len(w.Endpoint.Requests()) - messages; got < receiving.InFlight || got > 3*receiving.InFlight {
			t.Errorf("%d requests to an endpoint that refuses all", got)
		}
		if d, err := db.ReceivingDomains().Domain(t.Context(), w.OrgID, "in.example.com"); err != nil || d.FailingSince == nil {
			t.Errorf("%v, %v", d.FailingSince, err)
		}
	})
}

// TestNoAttemptAfterASlowOne checks that a slow attempt ends the turn, also for a delivery that
// waits for a free sender: otherwise its attempt could outlast the lease.
func TestNoAttemptAfterASlowOne(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, "")
		for range 10 * receiving.InFlight {
			w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
		}
		var begun atomic.Int32
		all := make(chan struct{})
		w.Endpoint.Answer(func(standardhooks.Request) standardhooks.Answer {
			switch n := begun.Add(1); {
			case n == receiving.InFlight:
				w.Advance(3 * time.Second)
				close(all)
			case n < receiving.InFlight:
				<-all
			}
			return standardhooks.Answer{Status: 200}
		})
		w.Send(t)
		if got := len(w.Endpoint.Requests()); got != 2*receiving.InFlight { // one turn in each lane
			t.Errorf("%d requests", got)
		}
	})
}

// TestManyTurns delivers more messages than fit into a turn, and replaces the secret in one of
// them. Each message must be delivered once, and only few with the old secret after that.
func TestManyTurns(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		_, secret := w.Open(t, hook, "")
		const messages = 120
		for range messages {
			w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
		}
		var mu sync.Mutex
		sent, rotated, late := map[string]int{}, "", 0
		all := make(chan struct{})
		w.Endpoint.Answer(func(r standardhooks.Request) standardhooks.Answer {
			mu.Lock()
			defer mu.Unlock()
			w.Advance(300 * time.Millisecond)
			if sent[r.ID]++; len(sent) == messages/4 && rotated == "" {
				rotated = w.Want(t, "inbound_webhook_rotate_secret", `{"domain":"in.example.com"}`)["hmac_secret"].(string)
			}
			switch old := r.Secrets[0] == secret; {
			case old && rotated != "":
				late++
			case !old && r.Secrets[0] != rotated:
				t.Errorf("an unknown secret")
			}
			if len(sent) == messages {
				close(all)
			}
			return standardhooks.Answer{Status: 200}
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.Courier.Run(ctx)
		}()
		<-all
		stop()
		<-ended
		for id, n := range sent {
			if n != 1 {
				t.Errorf("%s was sent %d times", id, n)
			}
		}
		if rotated == "" || late > 2*receiving.InFlight+17 { // a turn of five seconds has seventeen
			t.Errorf("%d with the old secret", late)
		}
	})
}
