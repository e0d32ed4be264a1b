package senders_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/senders"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"pgregory.net/rapid"
)

// modelClaim is a claim of the model: what the specification says about one address.
type modelClaim struct {
	id      string
	owner   int
	wrong   int
	expires time.Time
	// mailed is true once the code of the latest start was mailed.
	mailed   bool
	verified bool
}

// model is a machine that makes the same calls of the operations and of a simple model.
type model struct {
	w       *world
	t       *testing.T
	callers []core.Principal
	claims  map[string]*modelClaim // by address
	codes   map[string]string      // the code that was mailed last, by address
	starts  map[int][]time.Time    // by owner
	counted map[string][]time.Time // starts by address
}

var modelAddresses = []string{"a@example.com", "b@example.com", "c@example.com"}

func newModel(t *testing.T, db *storage.DB) *model {
	w := newWorld(t, db)
	w.CodeKey = []byte(w.org.ID[:senders.CodeKeyBytes]) // so that other models on the database count apart
	return &model{counted: map[string][]time.Time{}, w: w, t: t, callers: []core.Principal{w.ada, w.bob}, claims: map[string]*modelClaim{}, codes: map[string]string{}, starts: map[int][]time.Time{}}
}

// expect fails the test unless the error has the code, "" for no error.
func expect(r *rapid.T, what string, err error, want core.Code) {
	var got core.Code
	if err != nil {
		got = core.AsError(err).Code
	}
	if got != want {
		r.Fatalf("%s: got %q (%v), want %q", what, got, err, want)
	}
}

func (m *model) caller(r *rapid.T) int { return rapid.IntRange(0, len(m.callers)-1).Draw(r, "caller") }

func (m *model) address(r *rapid.T) string {
	return rapid.SampledFrom(modelAddresses).Draw(r, "address")
}

// recent returns the number of starts within a duration.
func (m *model) recent(starts []time.Time, within time.Duration) (n int) {
	for _, at := range starts {
		if at.After(m.w.clock().Add(-within)) {
			n++
		}
	}
	return n
}

// tooMany reports whether a limit refuses a start.
func (m *model) tooMany(owner int, address string) bool {
	return m.recent(m.starts[owner], time.Hour) >= senders.StartsPerHour ||
		m.recent(m.counted[address], time.Hour) >= senders.CodesPerHour || m.recent(m.counted[address], 24*time.Hour) >= senders.CodesPerDay
}

// startOne starts a verification.
func (m *model) startOne(r *rapid.T) {
	owner, address, now := m.caller(r), m.address(r), m.w.clock()
	c := m.claims[address]
	foreign := c != nil && c.owner != owner
	var want core.Code
	switch {
	case foreign && (c.verified || now.Before(c.expires)):
		want = core.CodeConflict
	case c != nil && !foreign && c.verified:
	case m.tooMany(owner, address):
		want = core.CodeRateLimited
	}
	got, err := m.w.start(m.t, m.callers[owner], address)
	expect(r, "start", err, want)
	if err != nil || got.Status == senders.Verified {
		return
	}
	m.starts[owner] = append(m.starts[owner], now)
	m.counted[address] = append(m.counted[address], now)
	m.claims[address] = &modelClaim{id: got.ID, owner: owner, expires: now.Add(15 * time.Minute)}
}

// mailAll runs the waiting jobs.
func (m *model) mailAll(r *rapid.T) {
	mailed := map[string]bool{}
	for _, l := range m.w.deliver(m.t) {
		c := m.claims[l.To]
		if c == nil || c.verified || c.mailed || c.wrong >= 5 || mailed[l.To] {
			r.Fatalf("an unexpected letter to %s: %+v", l.To, c)
		}
		mailed[l.To], c.mailed, m.codes[l.To] = true, true, codeOf(m.t, l)
	}
}

// confirmOne enters the right or a wrong code.
func (m *model) confirmOne(r *rapid.T) {
	owner, address, right := m.caller(r), m.address(r), rapid.Bool().Draw(r, "right")
	c := m.claims[address]
	if c == nil {
		return
	}
	code := m.codes[address]
	if code == "" || !c.mailed {
		right, code = false, "123456"
	} else if !right {
		code = otherThan(code)
	}
	var want core.Code
	switch {
	case c.owner != owner:
		want = core.CodeNotFound
	case c.verified:
	case c.wrong >= 5 || !m.w.clock().Before(c.expires):
		want = core.CodeValidationFailed
	case right:
		c.verified = true
	default:
		c.wrong++
		want = core.CodeValidationFailed
	}
	_, err := m.w.confirm(m.t, m.callers[owner], c.id, code)
	expect(r, fmt.Sprintf("confirm %s right %v", address, right), err, want)
}

// removeOne removes a claim.
func (m *model) removeOne(r *rapid.T) {
	owner, address := m.caller(r), m.address(r)
	c := m.claims[address]
	if c == nil {
		return
	}
	var want core.Code
	if c.owner != owner {
		want = core.CodeNotFound
	} else {
		delete(m.claims, address)
	}
	expect(r, "remove", m.w.remove(m.t, m.callers[owner], c.id), want)
}

// agrees compares the lists of all callers with the model.
func (m *model) agrees(r *rapid.T) {
	got, want := map[string]string{}, map[string]string{}
	for owner, p := range m.callers {
		for _, v := range m.w.list(m.t, p) {
			got[v.Email] = fmt.Sprint(owner, v.ID, v.Status, v.VerifiedAt != nil, v.CodeExpiresAt != nil)
		}
	}
	for _, address := range slices.Sorted(maps.Keys(m.claims)) {
		c := m.claims[address]
		status := senders.Pending
		if c.verified {
			status = senders.Verified
		} else if c.wrong >= 5 {
			status = senders.Locked
		}
		want[address] = fmt.Sprint(c.owner, c.id, status, c.verified, !c.verified)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Fatal(diff)
	}
}

// TestClaimsFollowTheModel makes random calls of two members, and compares each result and all
// lists with a simple model.
func TestClaimsFollowTheModel(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		rapid.Check(t, func(r *rapid.T) {
			m := newModel(t, db)
			r.Repeat(map[string]func(*rapid.T){
				"": m.agrees, "start": m.startOne, "mail": m.mailAll, "confirm": m.confirmOne, "confirm again": m.confirmOne, "remove": m.removeOne,
				"wait": func(r *rapid.T) {
					m.w.advance(rapid.SampledFrom([]time.Duration{time.Minute, 15 * time.Minute, time.Hour}).Draw(r, "wait"))
				},
			})
		})
	})
}
