package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// The size of a test: the number of kills and of recipients of a broadcast.
func size() (kills, recipients int) {
	if enginetest.Full() {
		return 200, 10_000
	}
	return 3, 1_000
}

const (
	// longestLife is how long a server runs at most after its start, before it is killed.
	longestLife = 300 * time.Millisecond
	// mostMessages is how many messages a server passes at most before it is killed.
	mostMessages = 600
	// patience is how long a server may take to send what is left, and to take all events.
	patience = 10 * time.Minute
)

// TestKilledServers kills servers while they send broadcasts. The account throttles, and calls
// time out, some after the account has accepted the message. On PostgreSQL, the database
// restarts too. With MAILHELM_TEST_FULL=1 the test also kills servers of an account without
// faults.
func TestKilledServers(t *testing.T) {
	t.Parallel()
	accounts := map[string][]simulator.Fault{"failing account": {
		{Method: simulator.MethodSend, Kind: sending.TimedOut, TookEffect: true, Chance: 0.01},
		{Method: simulator.MethodSend, Kind: sending.TimedOut, Chance: 0.01},
		{Method: simulator.MethodSend, Kind: sending.Throttled, RetryAfter: 20 * time.Millisecond, Chance: 0.01},
	}}
	if enginetest.Full() {
		accounts["sound account"] = nil
	}
	for name, faults := range accounts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enginetest.EachEngine(t, func(t *testing.T, postgres bool) { interrupt(t, postgres, faults) })
		})
	}
}

// interrupt sends broadcasts, and kills each server at a random time, until there were enough
// kills. Then it checks the outcomes of all broadcasts.
func interrupt(t *testing.T, postgres bool, faults []simulator.Fault) {
	t.Helper()
	kills, recipients := size()
	restarts := postgres && len(faults) > 0 // of the database, once for each broadcast
	s, chance := newScene(t, postgres, restarts, recipients), rand.New(rand.NewPCG(uint64(kills), uint64(len(faults))))
	s.Faults = faults
	for done := 0; done < kills; {
		at := launch(t, s.life)
		id, began := s.begin(t, at), time.Now()
		killed := done
		for s.isSending(t, id) && done < kills {
			s.live(t, id, chance)
			if restarts && done == killed {
				s.postgres.Stop(t)
				s.postgres.Start(t)
			}
			at.kill(t)
			done++
			at = launch(t, s.life)
		}
		s.complete(t, at, id)
		s.check(t, id)
		t.Logf("broadcast with %d kills, %v: %d accepted, %d unknown", done-killed, time.Since(began).Round(time.Second), s.accepted(t, id), s.unknown(t, id))
	}
}

// live waits for the end of the life of a server: after a random time, or after it has passed a
// random number of messages to the account.
func (s *scene) live(t *testing.T, id string, chance *rand.Rand) {
	t.Helper()
	if chance.IntN(4) == 0 {
		<-time.After(time.Duration(chance.Int64N(int64(longestLife))))
		return
	}
	until := s.accepted(t, id) + chance.IntN(mostMessages)
	product.Await(t, patience, func() error {
		if s.accepted(t, id) < until && s.isSending(t, id) {
			return errors.New("the server passes no messages")
		}
		return nil
	})
}

// isSending reports whether recipients are pending.
func (s *scene) isSending(t *testing.T, id string) bool {
	t.Helper()
	return s.inState(t, id, handover.Pending) > 0
}

func (s *scene) inState(t *testing.T, id string, state handover.State) int {
	t.Helper()
	return one(t, s.db, `SELECT count(*) FROM handover_recipients WHERE org_id = $1 AND send_id = $2 AND state = $3`, s.org, id, string(state))
}

// accepted returns the number of messages of a broadcast that the account accepted.
func (s *scene) accepted(t *testing.T, id string) int {
	t.Helper()
	return one(t, s.account, `SELECT count(*) FROM handed_over WHERE send = $1`, id)
}

func (s *scene) unknown(t *testing.T, id string) int {
	t.Helper()
	return one(t, s.db, `SELECT count(*) FROM handover_recipients WHERE org_id = $1 AND send_id = $2 AND reason = $3`, s.org, id, handover.OutcomeUnknown)
}

// complete lets a server send what is left and take all events. It kills that server, and lets
// another end the broadcast, whose clock is ahead by the patience for unknown outcomes.
func (s *scene) complete(t *testing.T, at *server, id string) {
	t.Helper()
	product.Await(t, patience, func() error {
		if n := s.inState(t, id, handover.Pending); n > 0 {
			return fmt.Errorf("%d recipients are pending\n%s", n, at.logged())
		}
		if n := one(t, s.account, `SELECT count(*) FROM outbox`); n > 0 {
			return fmt.Errorf("%d events are not delivered\n%s", n, at.logged())
		}
		return nil
	})
	at.kill(t)
	later := s.life
	later.Ahead = handover.Patience + time.Minute
	s.giveUp(t, later)
	at = launch(t, later)
	product.Await(t, time.Minute, func() error {
		if _, read := s.call(t, at, http.MethodGet, "/v1/broadcasts/"+id, ""); read["state"] == "sending" {
			return errors.New("the broadcast does not end")
		}
		return nil
	})
	at.kill(t)
}

// giveUp ends the attempts without an outcome, as a job of the product does. After a kill, this
// job begins only when the job queue knows that the process is gone.
func (s *scene) giveUp(t *testing.T, l life) {
	t.Helper()
	db, err := storage.Open(t.Context(), serve.StorageOf(l.config()))
	must(t, err)
	_, err = db.Handover().GiveUp(t.Context(), s.org, l.config().Clock(), s.recipients)
	must(t, errors.Join(err, db.Close()))
}

// recipient is the end of a recipient.
type recipient struct {
	state    handover.State
	reason   string
	messages int
}

// check compares the outcome of each recipient with the messages that the account accepted.
func (s *scene) check(t *testing.T, id string) {
	t.Helper()
	all := map[string]recipient{}
	rows, err := s.db.QueryContext(t.Context(), `SELECT recipient, state, reason FROM handover_recipients WHERE org_id = $1 AND send_id = $2`, s.org, id)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var key string
		var r recipient
		must(t, rows.Scan(&key, &r.state, &r.reason))
		all[key] = r
	}
	must(t, rows.Err())
	s.countMessages(t, id, all)
	filtered := 0
	for key, r := range all {
		right := map[handover.State]bool{
			handover.Sent: r.messages == 1, handover.Filtered: r.messages == 0,
			handover.Failed: r.messages == 0 && r.reason == handover.OutcomeUnknown,
		}
		if !right[r.state] {
			t.Errorf("recipient %s is %s %s and got %d messages", key, r.state, r.reason, r.messages)
		}
		if r.state == handover.Filtered {
			filtered++
		}
	}
	if len(all) != s.recipients || filtered != s.recipients/outEvery {
		t.Errorf("%d recipients of %d, of which %d are filtered", len(all), s.recipients, filtered)
	}
}

// countMessages counts the messages that the account accepted for each recipient.
func (s *scene) countMessages(t *testing.T, id string, all map[string]recipient) {
	t.Helper()
	rows, err := s.account.QueryContext(t.Context(), `SELECT recipient FROM handed_over WHERE send = $1`, id)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var key string
		must(t, rows.Scan(&key))
		r := all[key]
		r.messages++
		all[key] = r
	}
	must(t, rows.Err())
}
