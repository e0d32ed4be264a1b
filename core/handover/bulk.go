package handover

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// BulkMailing is a [Mailing] whose messages an account can take in bulk calls, because they
// differ only in the values of a template.
type BulkMailing interface {
	Mailing
	// Bulk returns what all messages share, without recipients. It returns false if the
	// messages have to be passed one by one.
	Bulk() (sending.Bulk, bool)
	// BulkRecipient returns a recipient with the values of its message, and the subject of the
	// message. After an error the recipient is failed, and the error is logged.
	BulkRecipient(ctx context.Context, orgID string, r Recipient) (to sending.BulkRecipient, subject string, err error)
}

const (
	// bulkShare is the share of the messages that the account accepts in a second that one bulk
	// call may have. The messages of a call arrive at once. More of them would exceed the rate
	// of an account that works at it, because headroom is as large.
	bulkShare = headroom - 1
	// maxBulkBytes is the maximum size of the template and of all values of a call. SES takes 1
	// MB as JSON in JSON, in which a character may take four bytes.
	maxBulkBytes = 240 << 10
	// singlesAfterRefusal is the time for which messages of an organization are passed one by
	// one after its account refused a whole bulk call.
	singlesAfterRefusal = time.Minute
)

// bulkSize returns how many recipients a call may have.
func (h *Handover) bulkSize(orgID string, m Mailing, each time.Duration) int {
	bulk, ok := m.(BulkMailing)
	if !ok {
		return 1
	}
	if _, ok = bulk.Bulk(); !ok {
		return 1
	}
	if until, refused := h.singlesUntil.Load(orgID); refused && h.Clock().Before(until.(time.Time)) {
		return 1
	}
	if each == 0 {
		return sending.MaxBulk
	}
	return max(1, min(sending.MaxBulk, int(bulkShare*float64(time.Second)/float64(each))))
}

// bulkCall is a bulk call that is being made.
type bulkCall struct {
	bulk     sending.Bulk
	subjects []string
	of       []Recipient
	size     int
}

// passBulk passes the messages of several recipients in bulk calls. If the account refuses a
// whole call, it passes the messages of that call one by one. note gets what is known.
func (h *Handover) passBulk(ctx context.Context, orgID string, m BulkMailing, recipients []Recipient, note func(passed)) {
	shared, _ := m.Bulk()
	fixed := len(shared.Inline.HTML) + len(shared.Inline.Text)
	call := bulkCall{bulk: shared, size: fixed}
	flush := func() {
		if len(call.of) > 0 {
			h.callBulk(ctx, orgID, m, call, note)
		}
		call = bulkCall{bulk: shared, size: fixed}
	}
	for _, r := range recipients {
		to, subject, err := makeBulkRecipient(ctx, orgID, m, r)
		if err != nil {
			note(passed{answer: h.unmade(ctx, orgID, r, err)})
			continue
		}
		to.Tags = map[string]string{core.SendTag: r.SendID, core.RecipientTag: r.Key}
		if call.size+len(to.Data) > maxBulkBytes {
			flush()
		}
		call.bulk.Recipients, call.size = append(call.bulk.Recipients, to), call.size+len(to.Data)
		call.of, call.subjects = append(call.of, r), append(call.subjects, subject)
	}
	flush()
}

// makeBulkRecipient returns the values of a message. A panic becomes an error.
func makeBulkRecipient(ctx context.Context, orgID string, m BulkMailing, r Recipient) (to sending.BulkRecipient, subject string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.New(core.PanicText(v))
		}
	}()
	return m.BulkRecipient(ctx, orgID, r)
}

// callBulk makes a bulk call.
func (h *Handover) callBulk(ctx context.Context, orgID string, m BulkMailing, call bulkCall, note func(passed)) {
	outcomes, err := h.sendBulk(ctx, orgID, call)
	switch {
	case err != nil && wasRefused(err):
		h.Log.InfoContext(ctx, "the sending account refused a bulk of messages, which are passed one by one now", "org_id", orgID, "send_id", call.of[0].SendID, "error", err)
		h.singlesUntil.Store(orgID, h.Clock().Add(singlesAfterRefusal))
		h.passSingles(ctx, orgID, m, call.of, note)
		return
	case err == nil && len(outcomes) != len(call.of):
		err = errors.New("the number of outcomes differs from the number of recipients")
	}
	if err != nil {
		h.Log.WarnContext(ctx, "the sending account did not accept a bulk of messages", "org_id", orgID, "send_id", call.of[0].SendID, "recipients", len(call.of), "error", err)
	}
	for i, r := range call.of {
		failure := err
		if err == nil && outcomes[i].Failure != nil {
			failure = outcomes[i].Failure
			h.Log.WarnContext(ctx, "the sending account did not accept a message", "org_id", orgID, "send_id", r.SendID, "recipient", r.Key, "error", failure)
		}
		answer, known := r.answered(Accepted), true
		if failure != nil {
			answer, known = judge(answer, failure, h.Clock())
		} else {
			answer.MessageID = outcomes[i].MessageID
		}
		if known {
			note(passed{answer, call.message(i)})
		}
	}
}

// passSingles passes messages one by one. If the account accepts no message now, the remaining
// recipients are released.
func (h *Handover) passSingles(ctx context.Context, orgID string, m Mailing, recipients []Recipient, note func(passed)) {
	for i, r := range recipients {
		p, known := h.pass(ctx, orgID, m, r)
		if !known {
			continue
		}
		note(p)
		if p.answer.Verdict != Released {
			continue
		}
		for _, rest := range recipients[i+1:] {
			note(passed{answer: rest.released(p.answer.NotBefore)})
		}
		return
	}
}

// sendBulk calls the account. A panic becomes an error that says nothing about the outcome.
func (h *Handover) sendBulk(ctx context.Context, orgID string, call bulkCall) (outcomes []sending.BulkOutcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.New(core.PanicText(v))
		}
	}()
	calling, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	return h.Account.SendBulk(calling, orgID, call.bulk)
}

// wasRefused reports whether the account accepted no message of a bulk call, but may accept
// single ones: it has no bulk calls, its key may not make them, or a value of one recipient
// made it refuse all.
func wasRefused(err error) bool {
	f, ok := errors.AsType[*sending.Failure](err)
	return ok && f.Kind != sending.TimedOut && f.Kind != sending.Throttled && f.Kind != sending.NotConnected
}

// message returns the message of a recipient without its bodies.
func (c bulkCall) message(i int) sending.Message {
	to := c.bulk.Recipients[i]
	message := sending.Message{Envelope: c.bulk.Envelope, To: []string{to.To}, Content: sending.Content{Subject: c.subjects[i]}}
	message.Headers = to.Headers
	message.Tags = withTags(to.Tags, c.bulk.Tags)
	return message
}
