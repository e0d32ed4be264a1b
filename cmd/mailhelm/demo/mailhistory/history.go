package mailhistory

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Days is the number of past days for which the demo has email events.
const Days = 90

// badDaysAgo is how many days ago the demo sent one campaign to a years-old list. It gives
// the demo a day with many bounces.
const badDaysAgo = 21

// rareOutcomes maps a number of days ago to the outcome of the first receipt of that day.
// These outcomes are so rare that random ones alone could leave a month without them.
var rareOutcomes = map[int]string{4: "Reject", 6: "Rendering Failure", 9: "DeliveryDelay"}

// failingDomain is the domain at which many of the demo's messages bounce because of a full
// mailbox.
const failingDomain = "mail.example.net"

// Event is one email event, such as a delivery or a bounce. Raw has the form in which
// Amazon SES publishes it.
type Event struct {
	At  time.Time
	Raw json.RawMessage
}

// Audience is who receives the mail of the history: Addresses the receipts and the onboarding mail,
// Readers the newsletter. Their order matters, because recipients are drawn from it.
type Audience struct {
	Addresses, Readers []string
}

// withGuests returns the audience with 24 addresses at the domain at which many messages bounce.
func (a Audience) withGuests() Audience {
	a = Audience{slices.Clone(a.Addresses), slices.Clone(a.Readers)}
	for i := range 24 {
		guest := fmt.Sprintf("guest.%d@%s", i+1, failingDomain)
		a.Addresses = append(a.Addresses, guest)
		if i < 8 {
			a.Readers = append(a.Readers, guest)
		}
	}
	return a
}

// Events returns the demo's email events of the last 90 days before the time now, in order
// of time. They are the events of receipts, of a weekly newsletter, of mail to new
// customers and of one campaign to old addresses. The random seed is fixed, so calls with
// the same parameters return the same events.
func Events(now time.Time, audience Audience) []Event {
	h := newHistory(now, rand.NewPCG(9006, 16))
	h.audience = audience.withGuests()
	midnight := now.UTC().Truncate(24 * time.Hour)
	for ago := Days; ago >= 0; ago-- {
		h.rare = rareOutcomes[ago]
		h.day(midnight.AddDate(0, 0, -ago), ago == badDaysAgo)
	}
	slices.SortStableFunc(h.events, func(a, b Event) int { return a.At.Compare(b.At) })
	return h.events
}

// history builds the email events of all days from random numbers with a fixed seed. A
// change in the order of its method calls changes all later events.
type history struct {
	now time.Time
	// chance is the random source, with a fixed seed.
	chance   *rand.Rand
	audience Audience
	// gone maps each address that bounced permanently or complained to the time of that
	// bounce or complaint. The address receives no mail after that time.
	gone map[string]time.Time
	// rare is the outcome of the next receipt, "" for a random one.
	rare string
	// messages is the number of messages created so far. Each message's id contains its
	// number.
	messages int
	events   []Event
}

func newHistory(now time.Time, source rand.Source) *history {
	return &history{now: now, chance: rand.New(source), gone: map[string]time.Time{}} //nolint:gosec // repeatable on purpose
}

// day adds the events of all mail of one day. The parameter midnight is the beginning of
// the day, in UTC. If bad is true, a campaign also goes to 150 old addresses.
func (h *history) day(midnight time.Time, bad bool) {
	receipts, newcomers := 16, 3
	if w := midnight.Weekday(); w == time.Saturday || w == time.Sunday {
		receipts, newcomers = 7, 2
	}
	if midnight.Weekday() == time.Tuesday {
		for _, to := range h.audience.Readers {
			h.send(Newsletter, to, midnight.Add(9*time.Hour+h.upTo(20*time.Minute)), false)
		}
	}
	if bad {
		for i := range 150 {
			h.send(Reopening, fmt.Sprintf("partner.%d@shops.example.net", i+1), midnight.Add(10*time.Hour+h.upTo(time.Hour)), true)
		}
	}
	for range receipts + h.chance.IntN(5) {
		h.send(Receipt, h.anyone(), midnight.Add(7*time.Hour+h.upTo(14*time.Hour)), false)
	}
	for range newcomers {
		to, at := h.anyone(), midnight.Add(8*time.Hour+h.upTo(12*time.Hour))
		for i, letter := range Onboarding {
			h.send(letter, to, at.AddDate(0, 0, 3*i), false)
		}
	}
}

// anyone returns a random address from the audience. upTo returns a random duration below d.
// happens returns true with the given probability, from 0 to 1.
func (h *history) anyone() string {
	return h.audience.Addresses[h.chance.IntN(len(h.audience.Addresses))]
}

func (h *history) upTo(d time.Duration) time.Duration {
	return time.Duration(h.chance.Int64N(int64(d)))
}
func (h *history) happens(probability float64) bool { return h.chance.Float64() < probability }
