package demodata

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// HistoryDays is the number of past days for which the demo has email events.
const HistoryDays = 90

// badDaysAgo is how many days ago the demo sent one campaign to a years-old list. It gives
// the demo a day with many bounces.
const badDaysAgo = 21

// rareOutcomes maps a number of days ago to the outcome of the first receipt of that day.
// These outcomes are so rare that random ones alone could leave a month without them.
var rareOutcomes = map[int]string{4: "Reject", 6: "Rendering Failure", 9: "DeliveryDelay"}

// failingDomain is the domain at which many of the demo's messages bounce because of a full
// mailbox.
const failingDomain = "mail.example.net"

// PastEvent is one email event, such as a delivery or a bounce. Raw has the form in which
// Amazon SES publishes it.
type PastEvent struct {
	At  time.Time
	Raw json.RawMessage
}

// History returns the demo's email events of the last 90 days before the time now, in order
// of time. They are the events of receipts, of a weekly newsletter, of mail to new
// customers and of one campaign to old addresses. The random seed is fixed, so calls with
// the same now return the same events.
func History(now time.Time) []PastEvent {
	h := history{
		now: now, chance: rand.New(rand.NewPCG(9006, 16)), //nolint:gosec // repeatable on purpose
		gone: map[string]time.Time{},
	}
	for _, p := range allPeople(now) {
		h.addresses = append(h.addresses, p.Email)
		if !p.UnsubscribeAll && slices.Contains(p.lists, newsletterList) {
			h.readers = append(h.readers, p.Email)
		}
	}
	for i := range 24 {
		h.addresses = append(h.addresses, fmt.Sprintf("guest.%d@%s", i+1, failingDomain))
		if i < 8 {
			h.readers = append(h.readers, fmt.Sprintf("guest.%d@%s", i+1, failingDomain))
		}
	}
	midnight := now.UTC().Truncate(24 * time.Hour)
	for ago := HistoryDays; ago >= 0; ago-- {
		h.rare = rareOutcomes[ago]
		h.day(midnight.AddDate(0, 0, -ago), ago == badDaysAgo)
	}
	slices.SortStableFunc(h.events, func(a, b PastEvent) int { return a.At.Compare(b.At) })
	return h.events
}

// history builds the email events of all days from random numbers with a fixed seed. A
// change in the order of its method calls changes all later events.
type history struct {
	now time.Time
	// chance is the random source, with a fixed seed. addresses has the addresses to which
	// receipts and onboarding mail are sent. readers has the addresses to which the
	// newsletter is sent.
	chance             *rand.Rand
	addresses, readers []string
	// gone maps each address that bounced permanently or complained to the time of that
	// bounce or complaint. The address receives no mail after that time.
	gone map[string]time.Time
	// rare is the outcome of the next receipt, "" for a random one.
	rare string
	// messages is the number of messages created so far. Each message's id contains its
	// number.
	messages int
	events   []PastEvent
}

// letterKind is a kind of mail with the probabilities, from 0 to 1, of an open, a click and
// a complaint.
type letterKind struct {
	channel, template, from, subject string
	opened, clicked, complained      float64
}

var (
	newsletter = letterKind{"marketing", "weekly-newsletter", "news@example.org", "This week at the roastery", 0.42, 0.12, 0.0007}
	receipt    = letterKind{"transactional", "order-receipt", "orders@example.com", "Your Fernhill receipt", 0.5, 0.1, 0}
	reopening  = letterKind{"marketing", "wholesale-reopening", "news@example.org", "Wholesale is open again", 0.2, 0.05, 0.02}
	onboarding = []letterKind{
		{"onboarding", "welcome", "hello@example.com", "Welcome to Fernhill Coffee", 0.6, 0.25, 0},
		{"onboarding", "brewing-guide", "hello@example.com", "How to brew your first bag", 0.5, 0.2, 0},
		{"onboarding", "first-order", "hello@example.com", "Ten per cent off your first order", 0.4, 0.15, 0.0004},
	}
)

// day adds the events of all mail of one day. The parameter midnight is the beginning of
// the day, in UTC. If bad is true, a campaign also goes to 150 old addresses.
func (h *history) day(midnight time.Time, bad bool) {
	receipts, newcomers := 16, 3
	if w := midnight.Weekday(); w == time.Saturday || w == time.Sunday {
		receipts, newcomers = 7, 2
	}
	if midnight.Weekday() == time.Tuesday {
		for _, to := range h.readers {
			h.send(newsletter, to, midnight.Add(9*time.Hour+h.upTo(20*time.Minute)), false)
		}
	}
	if bad {
		for i := range 150 {
			h.send(reopening, fmt.Sprintf("partner.%d@shops.example.net", i+1), midnight.Add(10*time.Hour+h.upTo(time.Hour)), true)
		}
	}
	for range receipts + h.chance.IntN(5) {
		h.send(receipt, h.anyone(), midnight.Add(7*time.Hour+h.upTo(14*time.Hour)), false)
	}
	for range newcomers {
		to, at := h.anyone(), midnight.Add(8*time.Hour+h.upTo(12*time.Hour))
		for i, letter := range onboarding {
			h.send(letter, to, at.AddDate(0, 0, 3*i), false)
		}
	}
}

// anyone returns a random address from h.addresses. upTo returns a random duration below d.
// happens returns true with the given probability, from 0 to 1.
func (h *history) anyone() string { return h.addresses[h.chance.IntN(len(h.addresses))] }

func (h *history) upTo(d time.Duration) time.Duration {
	return time.Duration(h.chance.Int64N(int64(d)))
}
func (h *history) happens(probability float64) bool { return h.chance.Float64() < probability }

// send adds the events of one message: its sending and what happened to it later. It adds
// none if the message's time is after the current time. It also adds none if the address
// bounced permanently or complained earlier. old marks an address that received no mail for
// years and bounces more often.
func (h *history) send(k letterKind, to string, at time.Time, old bool) {
	at = at.Truncate(time.Millisecond)
	if since, gone := h.gone[to]; at.After(h.now) || gone && at.After(since) {
		return
	}
	h.messages++
	m := pastMail{k, to, at, fmt.Sprintf("0107018f%08x-%08x-demo-000000", h.messages, h.chance.Uint32())}
	rare := ""
	if k.template == receipt.template {
		rare, h.rare = h.rare, ""
	}
	if k.template == receipt.template && h.happens(0.002) || rare == "Rendering Failure" {
		h.add("Rendering Failure", m, at.Add(time.Second), map[string]any{
			"errorMessage": "Attribute 'order' is not present in the rendering data.", "templateName": k.template,
		})
		return
	}
	h.add("Send", m, at, nil)
	failing := strings.HasSuffix(to, "@"+failingDomain)
	switch {
	case h.happens(0.0006) || rare == "Reject":
		h.add("Reject", m, at.Add(time.Second), map[string]any{"reason": "Bad content"})
	case rare == "" && h.addBounce(m, failing, old):
	case h.happens(0.009) || rare == "DeliveryDelay":
		h.add("DeliveryDelay", m, at.Add(10*time.Minute), map[string]any{
			"delayType": "TransientCommunicationFailure", "delayedRecipients": recipients(to, "4.4.7", ""),
		})
	default:
		h.addDelivery(m)
	}
}

// addBounce decides at random whether the message bounces, adds the bounce event if so, and
// reports whether it did. An address that bounces permanently receives no later mail.
func (h *history) addBounce(m pastMail, failing, old bool) bool {
	probability, permanent := 0.004, 0.8
	switch {
	case old:
		probability, permanent = 0.25, 0.7
	case failing:
		probability, permanent = 0.2, 0
	}
	if !h.happens(probability) {
		return false
	}
	at := m.at.Add(2*time.Second + h.upTo(time.Minute)).Truncate(time.Millisecond)
	kind, sub, status, diagnostic := "Transient", "MailboxFull", "4.2.2", "smtp; 452 4.2.2 mailbox full"
	if h.happens(permanent) {
		kind, sub, status, diagnostic = "Permanent", "General", "5.1.1", "smtp; 550 5.1.1 user unknown"
		h.gone[m.to] = at
	}
	h.add("Bounce", m, at, map[string]any{
		"bounceType": kind, "bounceSubType": sub, "bouncedRecipients": recipients(m.to, status, diagnostic),
		"feedbackId": m.id + "-bounce", "reportingMTA": "dns; mx.example.net",
	})
	return true
}

// addDelivery adds the delivery event of a message and, at random, an open, a click and a
// complaint. The delay until the open has an exponential distribution. An address that
// complains receives no later mail.
func (h *history) addDelivery(m pastMail) {
	at := m.at.Add(time.Second + h.upTo(4*time.Second)).Truncate(time.Millisecond)
	h.add("Delivery", m, at, map[string]any{
		"recipients": []string{m.to}, "processingTimeMillis": at.Sub(m.at).Milliseconds(), "smtpResponse": "250 2.0.0 OK",
	})
	later := time.Duration(h.chance.ExpFloat64() * float64(9*time.Hour))
	opened := at.Add(time.Minute + later).Truncate(time.Millisecond)
	reader := map[string]any{"ipAddress": "192.0.2.1", "userAgent": "Mozilla/5.0"}
	if h.happens(m.kind.opened) {
		h.add("Open", m, opened, reader)
	}
	if h.happens(m.kind.clicked) {
		h.add("Click", m, opened.Add(30*time.Second), map[string]any{
			"ipAddress": "192.0.2.1", "userAgent": "Mozilla/5.0", "link": "https://example.com/" + m.kind.template,
		})
	}
	if h.happens(m.kind.complained) {
		complained := opened.Add(time.Minute)
		h.gone[m.to] = complained
		h.add("Complaint", m, complained, map[string]any{
			"complaintFeedbackType": "abuse", "feedbackId": m.id + "-complaint", "complainedRecipients": recipients(m.to, "", ""),
		})
	}
}

// pastMail is one message: its kind, its recipient, when it was sent, and its id at the
// provider.
type pastMail struct {
	kind letterKind
	to   string
	at   time.Time
	id   string
}

// recipients returns a list with one recipient in the form of Amazon SES bounce and
// complaint events. It leaves out an empty status or diagnostic.
func recipients(to, status, diagnostic string) []map[string]string {
	r := map[string]string{"emailAddress": to}
	if status != "" {
		r["status"] = status
	}
	if diagnostic != "" {
		r["diagnosticCode"] = diagnostic
	}
	return []map[string]string{r}
}

// members maps each Amazon SES event type to the JSON member that holds its details.
var members = map[string]string{
	"Send": "send", "Delivery": "delivery", "Bounce": "bounce", "Complaint": "complaint",
	"Open": "open", "Click": "click", "DeliveryDelay": "deliveryDelay",
	"Reject": "reject", "Rendering Failure": "failure",
}

// add appends one event of a message, in the form that Amazon SES publishes, unless the
// event is in the future. kind is an event type, a key of the map members. The details of
// sends, rejections and rendering failures have no timestamp.
func (h *history) add(kind string, m pastMail, at time.Time, details map[string]any) {
	if at.After(h.now) {
		return
	}
	eventDetails := map[string]any{}
	for name, value := range details {
		eventDetails[name] = value
	}
	if kind != "Send" && kind != "Reject" && kind != "Rendering Failure" {
		eventDetails["timestamp"] = at.Format(time.RFC3339Nano)
	}
	raw, err := json.Marshal(map[string]any{
		"eventType": kind, members[kind]: eventDetails,
		"mail": map[string]any{
			"timestamp": m.at.Format(time.RFC3339Nano), "messageId": m.id,
			"source": "Fernhill Coffee <" + m.kind.from + ">", "destination": []string{m.to},
			"tags":          map[string][]string{"ses:configuration-set": {m.kind.channel}, core.TemplateTag: {m.kind.template}},
			"commonHeaders": map[string]any{"from": []string{"Fernhill Coffee <" + m.kind.from + ">"}, "subject": m.kind.subject},
		},
	})
	if err != nil {
		panic(err) // cannot happen: the object contains only values that JSON can represent
	}
	h.events = append(h.events, PastEvent{at, raw})
}
