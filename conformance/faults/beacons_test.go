package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// lostWithin is how old the beacons may be that a kill loses: the time between two writes, and the
// time of a write.
const lostWithin = time.Second

// beaconsSize returns the number of kills, and how long a server runs at least.
func beaconsSize() (kills int, shortest time.Duration) {
	if enginetest.Full() {
		return 20, 1500 * time.Millisecond
	}
	return 1, 100 * time.Millisecond
}

// TestKilledServersTakeBeacons kills servers while browsers send beacons. A beacon that was
// answered more than a second before the kill must be an activity; later ones may be lost. When
// all beacons are sent again, each is an activity once.
//
// Only full runs check the second: how long a write takes on a machine that runs other tests says
// nothing about the product.
func TestKilledServersTakeBeacons(t *testing.T) {
	t.Parallel()
	if !enginetest.Full() {
		checkKilledBeacons(t, false) // what is in memory does not depend on the database
		return
	}
	enginetest.EachEngine(t, checkKilledBeacons)
}

func checkKilledBeacons(t *testing.T, postgres bool) {
	t.Helper()
	kills, shortest := beaconsSize()
	chance := rand.New(rand.NewPCG(uint64(kills), 21))
	b := newBeaconScene(t, postgres)
	var oldest time.Duration
	answered, lost := 0, 0
	for range kills {
		at := launch(t, b.life)
		took := b.send(t, at, shortest+time.Duration(chance.Int64N(int64(shortest))))
		stored := b.stored(t)
		for id, when := range took.answered {
			answered++
			if stored[id] == 0 {
				lost++
				oldest = max(oldest, took.killed.Sub(when))
			}
		}
	}
	t.Logf("%d kills: %d beacons answered, %d of them lost, the oldest %v before the kill", kills, answered, lost, oldest.Round(time.Millisecond))
	if answered == 0 || lost == answered {
		t.Errorf("%d beacons answered, %d lost", answered, lost)
	}
	if enginetest.Full() && oldest > lostWithin {
		t.Errorf("a beacon was answered %v before the kill and is lost", oldest)
	}
	b.sendAgain(t)
}

// beaconScene is an organization with a website and one visitor.
type beaconScene struct {
	*scene
	siteKey, visitor string
	// sent is the number of beacons. The beacon with the number n is always the same.
	mu   sync.Mutex
	sent int
}

func newBeaconScene(t *testing.T, postgres bool) *beaconScene {
	t.Helper()
	b := &beaconScene{scene: newScene(t, postgres, false, 1)}
	b.change(t, func(ctx context.Context, h *serve.Host) error {
		key, err := h.Site().Settings.Create(ctx, b.org)
		b.siteKey = key.Value
		status, visitor := b.call(t, &server{api: h.Addresses().API}, http.MethodPost, "/v1/contacts/identify", `{"email":"person00000@example.org"}`)
		if b.visitor, _ = visitor["visitor_id"].(string); b.visitor == "" {
			t.Fatalf("identify: %d %v", status, visitor)
		}
		return err
	})
	return b
}

// beaconsOf are the beacons that a killed server has taken.
type beaconsOf struct {
	// answered has the times of the answers by the number of the beacon.
	answered map[int]time.Time
	killed   time.Time
}

// send sends beacons over several connections until it kills the server after some time.
func (b *beaconScene) send(t *testing.T, at *server, life time.Duration) beaconsOf {
	t.Helper()
	took := beaconsOf{answered: map[int]time.Time{}}
	var senders sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		senders.Go(func() {
			for {
				b.mu.Lock()
				n := b.sent
				b.sent++
				b.mu.Unlock()
				err := b.post(at, n)
				b.mu.Lock()
				if err == nil {
					took.answered[n] = time.Now()
				}
				b.mu.Unlock()
				select {
				case <-stop:
					return
				case <-time.After(4 * time.Millisecond): // a website, not a load test
				}
			}
		})
	}
	// The first write has ended, so that some beacons are old.
	product.Await(t, time.Minute, func() error {
		if len(b.stored(t)) == 0 {
			return fmt.Errorf("no beacon is stored\n%s", at.logged())
		}
		return nil
	})
	<-time.After(life)
	took.killed = time.Now()
	at.kill(t)
	close(stop)
	senders.Wait()
	return took
}

// post sends a beacon. It fails if the answer is not 204.
func (b *beaconScene) post(at *server, n int) error {
	body := fmt.Sprintf(`{"site_key":%q,"visitor_id":%q,"name":"site_visit","session_id":"s%d","title":"%d"}`, b.siteKey, b.visitor, n, n)
	r, err := http.NewRequest(http.MethodPost, at.api+"/s/visit", strings.NewReader(body))
	if err != nil {
		return err
	}
	// An address may send 600 beacons in a minute.
	r.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.1", n/500>>8, n/500&255))
	answer, err := b.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusNoContent {
		return fmt.Errorf("beacon %d: %d, %w", n, answer.StatusCode, err)
	}
	return nil
}

// stored returns how often each beacon is an activity.
func (b *beaconScene) stored(t *testing.T) map[int]int {
	t.Helper()
	rows, err := b.db.QueryContext(t.Context(), `SELECT properties FROM activities WHERE org_id = $1 AND name = 'site_visit'`, b.org)
	must(t, err)
	defer rows.Close()
	stored := map[int]int{}
	for rows.Next() {
		var text string
		var properties struct {
			Title int `json:"title,string"`
		}
		must(t, rows.Scan(&text))
		must(t, json.Unmarshal([]byte(text), &properties))
		stored[properties.Title]++
	}
	must(t, rows.Err())
	return stored
}

// sendAgain sends all beacons again, and waits until each is stored. None may be stored twice.
func (b *beaconScene) sendAgain(t *testing.T) {
	t.Helper()
	at := launch(t, b.life)
	defer at.kill(t)
	for n := range b.sent {
		must(t, b.post(at, n))
	}
	product.Await(t, patience, func() error {
		if n := len(b.stored(t)); n < b.sent {
			return fmt.Errorf("%d of %d beacons are stored", n, b.sent)
		}
		return nil
	})
	for n, times := range b.stored(t) {
		if times > 1 {
			t.Errorf("the beacon %d is stored %d times", n, times)
		}
	}
}
