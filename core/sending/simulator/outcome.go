package simulator

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// What can become of a recipient. Each returns when it happens.

func (f *fates) delivery(address string, sent time.Time) time.Time {
	at := f.later(sent, 200*time.Millisecond, 3*time.Second)
	f.emit(at, event{EventType: "Delivery", Delivery: &deliveryDetail{
		Timestamp: stamp(at), ProcessingTimeMillis: at.Sub(f.d.now).Milliseconds(), Recipients: []string{address},
		SMTPResponse: "250 2.6.0 Message received", ReportingMTA: reporter,
	}})
	return at
}

// delay returns when the next attempt is made.
func (f *fates) delay(address string) time.Time {
	at := f.after(time.Second, 30*time.Second)
	f.emit(at, event{EventType: "DeliveryDelay", DeliveryDelay: &delayDetail{
		DelayType: "MailboxFull",
		DelayedRecipients: []recipientDetail{{
			EmailAddress: address, Status: "4.2.2", DiagnosticCode: "smtp; 452 4.2.2 mailbox is full",
		}},
		ExpirationTime: stamp(f.d.now.Add(14 * time.Hour)), Timestamp: stamp(at),
	}})
	return f.later(at, 5*time.Minute, time.Hour)
}

func (f *fates) generalBounce(address string) time.Time {
	return f.bounce(address, "General", "5.1.1", "smtp; 550 5.1.1 user unknown", "dsn; "+reporter)
}

func (f *fates) bounce(address, subType, status, diagnostic, mta string) time.Time {
	at := f.after(200*time.Millisecond, 3*time.Second)
	f.emit(at, event{EventType: "Bounce", Bounce: &bounceDetail{
		BounceType: permanent, BounceSubType: subType, Timestamp: stamp(at), FeedbackID: mintID(f.random, at), ReportingMTA: mta,
		BouncedRecipients: []recipientDetail{{EmailAddress: address, Action: "failed", Status: status, DiagnosticCode: diagnostic}},
	}})
	return at
}

func (f *fates) complaint(address string, delivered time.Time) time.Time {
	at := f.later(delivered, time.Second, 12*time.Hour)
	f.emit(at, event{EventType: "Complaint", Complaint: &complaintDetail{
		FeedbackID: mintID(f.random, at), ComplainedRecipients: []recipientDetail{{EmailAddress: address}},
		Timestamp: stamp(at), UserAgent: "Mailbox feedback loop", ComplaintFeedbackType: "abuse", ArrivalDate: stamp(at),
	}})
	return at
}

// unsubscribe is a person who leaves everything by the provider's own link, which
// only reaches people on the contact list. Their choice is stored when the event
// about it is taken from the outbox.
func (f *fates) unsubscribe(address string, at time.Time) {
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
	left := topicPreferences{UnsubscribeAll: true, TopicSubscriptionStatus: old.TopicSubscriptionStatus}
	f.store(at, event{EventType: "Subscription", Subscription: &subscriptionDetail{
		ContactList: list, Timestamp: stamp(at), Source: "UnsubscribeHeader", NewTopicPreferences: left, OldTopicPreferences: old,
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

// onList reports whether the account's list holds an address back from this
// message.
func (f *fates) onList(address string) bool {
	w := f.d.w
	entry, err := readSuppressed(w.ctx, w.tx.StmtContext(w.ctx, f.d.s.suppressedInTx), w.orgID, address, f.d.now)
	if err != nil {
		if !errors.Is(err, sql.ErrNoRows) {
			w.err = err
		}
		return false
	}
	return slices.Contains(f.d.suppresses, strings.ToUpper(string(entry.Reason)))
}

// suppress puts an address on the account's list from then on, if the message's
// policy has the reason.
func (f *fates) suppress(address string, reason sending.SuppressionReason, policy string, at time.Time) {
	if slices.Contains(f.d.suppresses, policy) {
		f.d.w.exec(insertSuppressed, f.d.w.orgID, emailKey(address), address, string(reason), at.UnixMicro())
	}
}

const mailboxDomain = "@simulator.amazonses.com"

func isMailboxSimulator(address string) bool {
	return strings.HasSuffix(strings.ToLower(address), mailboxDomain)
}

// simulated is an address of the provider's mailbox simulator: its name, up to a
// label behind a plus sign, says what happens. None of them ends up on the
// account's list. A name that the provider does not know bounces.
func (f *fates) simulated(address string) {
	name, _, _ := strings.Cut(strings.TrimSuffix(strings.ToLower(address), mailboxDomain), "+")
	switch name {
	case "success", "ooto":
		f.delivery(address, f.d.now)
	case "complaint":
		f.complaint(address, f.delivery(address, f.d.now))
	case "suppressionlist":
		f.bounce(address, "Suppressed", "5.1.1", "The provider's own suppression list holds this address; nothing was sent to it.", "")
	default:
		f.generalBounce(address)
	}
}
