package mailhistory

import (
	"math/rand/v2"
	"time"
)

// Extra creates messages beside those of [Events]. Its random seed is fixed, so the same calls return
// the same events.
type Extra struct{ history *history }

// firstExtra is the number of the first extra message. The history has fewer messages.
const firstExtra = 1 << 20

// NewExtra returns an Extra that creates no events after the time now.
func NewExtra(now time.Time) Extra {
	h := newHistory(now, rand.NewPCG(7211, 45))
	h.messages = firstExtra
	return Extra{h}
}

// Exclude notes that an address bounced permanently or complained at a time. It receives no mail
// afterwards.
func (e Extra) Exclude(address string, at time.Time) { e.history.gone[address] = at }

// Excluded reports whether the address had bounced permanently or complained at the time.
func (e Extra) Excluded(address string, at time.Time) bool {
	since, gone := e.history.gone[address]
	return gone && at.After(since)
}

// Send returns the events of a letter that was sent to the address at the time. There are none if the time
// is in the future, or if the address was excluded.
func (e Extra) Send(letter Letter, address string, at time.Time) []Event {
	before := len(e.history.events)
	e.history.send(letter, address, at, false)
	return e.history.events[before:]
}
