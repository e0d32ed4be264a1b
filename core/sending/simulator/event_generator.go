package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sentmail"
)

// Behaviour has the probabilities, from 0 to 1, of bounces, delays and what recipients do
// with a message. With the zero value, no message bounces or is delayed by chance, and
// recipients do nothing. Behaviour has no effect on mail to the addresses of the SES
// mailbox simulator.
type Behaviour struct {
	// Delay is the probability that a message is delivered late, after a delay event.
	Delay float64
	// Transient is the probability of a delay event followed by a transient bounce.
	Transient float64
	// Bounce is the probability of a permanent bounce.
	Bounce float64
	// Open is the probability that a recipient opens a delivered message, Complaint that
	// the recipient complains about it. Click is the probability that a recipient who
	// opened the message clicks a link, Unsubscribe that a recipient who clicked opts out.
	// Unsubscribe applies only to addresses on the contact list.
	Open, Click, Unsubscribe, Complaint float64
}

const (
	policyBounce    = "BOUNCE"
	policyComplaint = "COMPLAINT"

	permanent    = "Permanent"
	transient    = "Transient"
	undetermined = "Undetermined"

	reporter = "a1-2.smtp-out.amazonses.com"
	browser  = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
	reader   = "192.0.2.1" // reserved for documentation (RFC 5737)
	outgoing = "198.51.100.1"
)

// The minimum and maximum time from a delay event to the next delivery attempt.
const (
	soonestAttempt = 5 * time.Minute
	latestAttempt  = time.Hour
)

// eventGenerator generates the events of one message: what happens to it and what its
// recipients do.
type eventGenerator struct {
	d      *dispatch
	random *rand.Rand
	mail   mailObject
	// outcome is the most severe outcome that the events so far report.
	outcome sentmail.Outcome
}

func (d *dispatch) eventGenerator(number int64, m sending.Message, subject string) *eventGenerator {
	random := d.s.randomOf(d.w.orgID, number)
	id := mintID(random, d.now)
	return &eventGenerator{d: d, random: random, mail: mailObject{
		Timestamp: stamp(d.now), Source: m.From, MessageID: id, SendingAccountID: d.account.AccountID,
		SourceArn:   fmt.Sprintf("arn:aws:ses:%s:%s:identity/%s", d.account.Region, d.account.AccountID, d.identity),
		Destination: bare(recipientsOf(m)), Headers: headersOf(m, subject),
		CommonHeaders: &headerSummary{
			From: []string{m.From}, ReplyTo: m.ReplyTo, To: m.To, CC: m.CC, MessageID: id, Subject: subject,
		},
		Tags: d.eventTags(m.Tags),
	}}
}

// bare returns the email addresses of the recipients, without display names.
func bare(recipients []string) []string {
	addresses := make([]string, len(recipients))
	for i, recipient := range recipients {
		addresses[i], _ = mailbox(recipient) // valid: checkMessage has checked it
	}
	return addresses
}

func headersOf(m sending.Message, subject string) []headerField {
	fields := []headerField{{"From", m.From}}
	for name, addresses := range map[string][]string{"Reply-To": m.ReplyTo, "To": m.To, "Cc": m.CC} {
		if len(addresses) > 0 {
			fields = append(fields, headerField{name, strings.Join(addresses, ", ")})
		}
	}
	slices.SortStableFunc(fields[1:], func(a, b headerField) int { return strings.Compare(b.Name, a.Name) })
	fields = append(fields, headerField{"Subject", subject}, headerField{"MIME-Version", "1.0"})
	for _, h := range m.Headers {
		fields = append(fields, headerField{h.Name, h.Value})
	}
	return fields
}

// eventTags returns the tags of the message's event records: its own tags and those that
// SES adds.
func (d *dispatch) eventTags(tags map[string]string) map[string][]string {
	all := make(map[string][]string, len(tags)+4)
	for name, value := range tags {
		all[name] = []string{value}
	}
	all["ses:source-ip"] = []string{reader}
	all["ses:caller-identity"], all["ses:from-domain"] = []string{"simulator"}, []string{d.fromDomain}
	if d.env.ConfigurationSet != "" {
		all["ses:configuration-set"] = []string{d.env.ConfigurationSet}
	}
	return all
}

func (f *eventGenerator) renderingFailure(template, missing string) {
	f.emit(f.after(0, time.Second), event{EventType: "Rendering Failure", Failure: &failureDetail{
		ErrorMessage: "Attribute '" + missing + "' is not present in the rendering data.", TemplateName: template,
	}})
}

// recipients generates the events of all recipients of the message. The recipients share
// one Send event.
func (f *eventGenerator) recipients() {
	f.emit(f.d.now, event{EventType: "Send", Send: &struct{}{}})
	for _, address := range f.mail.Destination {
		if f.d.w.err == nil {
			f.recipient(address)
		}
	}
}

func (f *eventGenerator) recipient(address string) {
	if isMailboxSimulator(address) {
		f.simulateMailbox(address)
		return
	}
	if reason, listed := f.suppressionReason(address); listed {
		f.keptBack(address, reason)
		return
	}
	b := f.d.s.behaviour
	if f.chance(b.Bounce) {
		at := f.bounce(address, unknownUser)
		f.suppress(address, sending.SuppressedByBounce, policyBounce, at)
		return
	}
	// If the probability is zero, no random number is used. So accounts without transient
	// bounces have the same events as in earlier versions.
	if b.Transient > 0 && f.chance(b.Transient) {
		f.bounceAt(f.delay(address, soonestAttempt, latestAttempt), address, mailboxFull)
		return
	}
	sent := f.d.now
	if f.chance(b.Delay) {
		sent = f.delay(address, soonestAttempt, latestAttempt)
	}
	delivered := f.delivery(address, sent)
	f.engagement(address, delivered)
	if f.chance(b.Complaint) {
		at := f.complaint(address, delivered)
		f.suppress(address, sending.SuppressedByComplaint, policyComplaint, at)
	}
}

// engagement generates the open, click and unsubscribe events of a message that was
// delivered to the address.
func (f *eventGenerator) engagement(address string, delivered time.Time) {
	b := f.d.s.behaviour
	if !f.chance(b.Open) {
		return
	}
	opened := f.timeAfter(delivered, time.Minute, 6*time.Hour)
	f.emit(opened, event{EventType: "Open", Open: &openDetail{reader, stamp(opened), browser}})
	if !f.chance(b.Click) {
		return
	}
	clicked := f.timeAfter(opened, 2*time.Second, 5*time.Minute)
	f.emit(clicked, event{EventType: "Click", Click: &clickDetail{
		IPAddress: reader, Timestamp: stamp(clicked), UserAgent: browser,
		Link: "https://example.com/",
	}})
	if f.chance(b.Unsubscribe) {
		f.unsubscribe(address, f.timeAfter(clicked, 2*time.Second, time.Minute))
	}
}

func (f *eventGenerator) chance(p float64) bool { return f.random.Float64() < p }

// after returns a random time after the sending of the message. The time between the two is
// at least the parameter least and less than the parameter most.
func (f *eventGenerator) after(least, most time.Duration) time.Time {
	return f.timeAfter(f.d.now, least, most)
}

// timeAfter returns a random time after the given time. The difference is at least the
// parameter least and less than the parameter most. It is in whole milliseconds, the
// resolution of event records.
func (f *eventGenerator) timeAfter(than time.Time, least, most time.Duration) time.Time {
	span := int64((most - least) / time.Millisecond)
	return than.Add(least + time.Duration(f.random.Int64N(span))*time.Millisecond)
}

func (f *eventGenerator) emit(at time.Time, e event) { f.store(at, e, "") }

const insertEvent = `INSERT INTO outbox (org_id, due, event, unsubscribes) VALUES ($1, $2, $3, $4)`

// store adds an event, due at the given time, to the outbox, in the transaction that sends
// the message. unsubscribes is the address that opts out with this event, or "".
func (f *eventGenerator) store(at time.Time, e event, unsubscribes string) {
	if f.d.w.err != nil {
		return
	}
	f.noteOutcome(e.EventType)
	e.Mail = f.mail.mailFor(e)
	text, err := e.encode()
	if err != nil {
		f.d.w.err = err
		return
	}
	f.d.w.exec(insertEvent, f.d.w.orgID, at.UnixMicro(), text, unsubscribes)
}
