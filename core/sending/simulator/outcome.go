package simulator

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// The methods below generate the events of one recipient. Most return the time of their
// event.

func (f *eventGenerator) delivery(address string, sent time.Time) time.Time {
	at := f.timeAfter(sent, 200*time.Millisecond, 3*time.Second)
	f.emit(at, event{EventType: "Delivery", Delivery: &deliveryDetail{
		Timestamp: stamp(at), ProcessingTimeMillis: at.Sub(f.d.now).Milliseconds(), Recipients: []string{address},
		SMTPResponse: "250 2.6.0 Message received", ReportingMTA: reporter,
	}})
	return at
}

// delay generates a delay event. It returns the random time of the next delivery attempt.
// The time from the event to the attempt is at least soonest and less than latest.
func (f *eventGenerator) delay(address string, soonest, latest time.Duration) time.Time {
	at := f.after(time.Second, 30*time.Second)
	f.emit(at, event{EventType: "DeliveryDelay", DeliveryDelay: &delayDetail{
		DelayType: "MailboxFull",
		DelayedRecipients: []recipientDetail{{
			EmailAddress: address, Status: "4.2.2", DiagnosticCode: fullMailbox,
		}},
		ExpirationTime: stamp(f.d.now.Add(14 * time.Hour)), Timestamp: stamp(at),
	}})
	return f.timeAfter(at, soonest, latest)
}

const fullMailbox = "smtp; 452 4.2.2 mailbox is full"

// bounceCause has the texts of a bounce event. mta is the reporting mail server; it is ""
// if the message was not sent.
type bounceCause struct{ kind, subType, status, diagnostic, mta string }

const remoteMTA = "dsn; " + reporter

const onAccountSuppressionList = "OnAccountSuppressionList"

var (
	unknownUser     = bounceCause{permanent, "General", "5.1.1", "smtp; 550 5.1.1 user unknown", remoteMTA}
	mailboxFull     = bounceCause{transient, "MailboxFull", "4.2.2", fullMailbox, remoteMTA}
	unclear         = bounceCause{undetermined, undetermined, "5.0.0", "smtp; 554 5.0.0 transaction failed", remoteMTA}
	onAccountsList  = bounceCause{permanent, onAccountSuppressionList, "5.1.1", "The account's suppression list holds this address; nothing was sent to it.", ""}
	onProvidersList = bounceCause{permanent, "Suppressed", "5.1.1", "The provider's own suppression list holds this address; nothing was sent to it.", ""}
)

// bounce generates a bounce event and returns the event's time, at most three seconds after
// the time of sending.
func (f *eventGenerator) bounce(address string, why bounceCause) time.Time {
	return f.bounceAt(f.after(200*time.Millisecond, 3*time.Second), address, why)
}

func (f *eventGenerator) bounceAt(at time.Time, address string, why bounceCause) time.Time {
	f.emit(at, event{EventType: "Bounce", Bounce: &bounceDetail{
		BounceType: why.kind, BounceSubType: why.subType, Timestamp: stamp(at), FeedbackID: mintID(f.random, at), ReportingMTA: why.mta,
		BouncedRecipients: []recipientDetail{{EmailAddress: address, Action: "failed", Status: why.status, DiagnosticCode: why.diagnostic}},
	}})
	return at
}

func (f *eventGenerator) complaint(address string, delivered time.Time) time.Time {
	at := f.timeAfter(delivered, time.Second, 12*time.Hour)
	f.emit(at, event{EventType: "Complaint", Complaint: &complaintDetail{
		FeedbackID: mintID(f.random, at), ComplainedRecipients: []recipientDetail{{EmailAddress: address}},
		Timestamp: stamp(at), UserAgent: "Mailbox feedback loop", ComplaintFeedbackType: "abuse", ArrivalDate: stamp(at),
	}})
	return at
}

// keptBack generates the event for an address on the suppression list. Nothing is sent to
// this address. The event is a bounce or a complaint, by the reason of the list entry. A
// complaint event from this function has no feedback report of a mailbox provider.
func (f *eventGenerator) keptBack(address string, reason sending.SuppressionReason) {
	if reason != sending.SuppressedByComplaint {
		f.bounce(address, onAccountsList)
		return
	}
	at, sub := f.after(200*time.Millisecond, 3*time.Second), onAccountSuppressionList
	f.emit(at, event{EventType: "Complaint", Complaint: &complaintDetail{
		FeedbackID: mintID(f.random, at), ComplaintSubType: &sub,
		ComplainedRecipients: []recipientDetail{{EmailAddress: address}}, Timestamp: stamp(at),
	}})
}

// unsubscribe generates the event of a recipient who opts out of all mail through the link
// of SES. It does nothing if the address is not on the contact list. Outbox.Due stores the
// opt-out when it returns the event.
func (f *eventGenerator) unsubscribe(address string, at time.Time) {
	w := f.d.w
	var list, preferences string
	var already bool
	err := w.tx.QueryRowContext(w.ctx, `SELECT l.name, c.preferences, c.unsubscribe_all
FROM contacts c JOIN contact_lists l ON l.org_id = c.org_id WHERE c.org_id = $1 AND c.email_key = $2`,
		w.orgID, emailKey(address)).Scan(&list, &preferences, &already)
	if errors.Is(err, sql.ErrNoRows) {
		return
	}
	if err != nil {
		w.err = err
		return
	}
	old := topicPreferences{UnsubscribeAll: already, TopicSubscriptionStatus: statuses(preferences)}
	changed := topicPreferences{UnsubscribeAll: true, TopicSubscriptionStatus: old.TopicSubscriptionStatus}
	f.store(at, event{EventType: "Subscription", Subscription: &subscriptionDetail{
		ContactList: list, Timestamp: stamp(at), Source: "UnsubscribeHeader", NewTopicPreferences: changed, OldTopicPreferences: old,
	}}, emailKey(address))
}

func statuses(preferences string) []topicStatus {
	list := []topicStatus{}
	for _, word := range strings.Fields(preferences) { // sorted, see preferences.go
		choice := "OptIn"
		if word[0] == '-' {
			choice = "OptOut"
		}
		list = append(list, topicStatus{word[1:], choice})
	}
	return list
}

// suppressionReason returns the reason for which the address is on the suppression list.
// The second result is true if the message's policy includes that reason, so that nothing
// is sent to the address.
func (f *eventGenerator) suppressionReason(address string) (sending.SuppressionReason, bool) {
	w := f.d.w
	entry, err := readSuppressed(w.ctx, w.tx.StmtContext(w.ctx, f.d.s.suppressedInTx), w.orgID, address, f.d.now)
	if err != nil {
		if !errors.Is(err, sql.ErrNoRows) {
			w.err = err
		}
		return "", false
	}
	return entry.Reason, slices.Contains(f.d.suppresses, strings.ToUpper(string(entry.Reason)))
}

// suppress adds an address to the suppression list, for a reason such as a bounce. The
// entry has no effect before the time in the parameter at. policy is the reason's name in
// suppression policies, such as BOUNCE. If the message's suppression policy does not have
// that name, suppress does nothing.
func (f *eventGenerator) suppress(address string, reason sending.SuppressionReason, policy string, at time.Time) {
	if slices.Contains(f.d.suppresses, policy) {
		f.d.w.exec(insertSuppressed, f.d.w.orgID, emailKey(address), address, string(reason), at.UnixMicro())
	}
}

const mailboxDomain = "@simulator.amazonses.com"

func isMailboxSimulator(address string) bool {
	return strings.HasSuffix(strings.ToLower(address), mailboxDomain)
}

// simulateMailbox generates the events of an address of the SES mailbox simulator. The
// local part, such as bounce or success, determines the events; unknown local parts bounce.
// These addresses are never suppressed. SES ignores a label after a plus sign. Here
// success+delay, bounce+transient and bounce+undetermined have events of their own.
func (f *eventGenerator) simulateMailbox(address string) {
	name, label, _ := strings.Cut(strings.TrimSuffix(strings.ToLower(address), mailboxDomain), "+")
	switch {
	case name == "success" && label == "delay":
		f.delivery(address, f.delay(address, 5*time.Second, 30*time.Second))
	case name == "success", name == "ooto":
		f.delivery(address, f.d.now)
	case name == "complaint":
		f.complaint(address, f.delivery(address, f.d.now))
	case name == "suppressionlist":
		f.bounce(address, onProvidersList)
	case name == "bounce" && label == "transient":
		f.bounce(address, mailboxFull)
	case name == "bounce" && label == "undetermined":
		f.bounce(address, unclear)
	default:
		f.bounce(address, unknownUser)
	}
}
