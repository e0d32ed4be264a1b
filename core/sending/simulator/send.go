package simulator

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Send sends one message. If the following conditions hold, it counts the message against
// the quotas and generates its events:
//
//   - Sending is enabled, else Rejected.
//   - The configuration set and the template exist, else Rejected.
//   - The address or a domain of From is verified, else Rejected.
//   - In the sandbox, every recipient is verified or an address of the SES mailbox
//     simulator, else Rejected.
//   - There are 1 to 50 recipients, all well-formed, and SES would accept the tags,
//     headers and template data, else Invalid.
//   - Neither the rate per second nor the daily quota is used up, else Throttled.
//
// A message without the value of a template variable is accepted, and its only event is
// "Rendering Failure". A message with a virus is accepted, and its only event is Reject.
func (s *Simulator) Send(ctx context.Context, orgID string, m sending.Message) (string, error) {
	m.Tags = ownTags(m.Envelope, m.Content.Template)
	return s.SendTagged(ctx, orgID, m)
}

// SendTagged sends one message like Send, but adds no tags to it. It is for callers whose
// Tags already contain the marks of a test message and of the template.
func (s *Simulator) SendTagged(ctx context.Context, orgID string, m sending.Message) (string, error) {
	var id string
	err := s.call(ctx, MethodSend, func(ctx context.Context) error {
		return s.write(ctx, orgID, func(w *change) {
			var d *dispatch
			if d, w.err = s.dispatch(w, m.Envelope); w.err == nil {
				id, w.err = d.submit(m)
			}
		})
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// SendBulk sends a templated message to at most 50 recipients, in one transaction. An error
// of the sender, the account, the template or the fields that all messages share makes the
// whole call fail. An error of one recipient affects only that recipient's outcome. If the
// quota is used up before the last recipient, the outcomes of the remaining recipients are
// failures.
func (s *Simulator) SendBulk(ctx context.Context, orgID string, b sending.Bulk) ([]sending.BulkOutcome, error) {
	b.Tags = ownTags(b.Envelope, b.Template)
	return s.SendBulkTagged(ctx, orgID, b)
}

// SendBulkTagged sends messages like SendBulk, but adds no tags to them; see SendTagged.
func (s *Simulator) SendBulkTagged(ctx context.Context, orgID string, b sending.Bulk) ([]sending.BulkOutcome, error) {
	var outcomes []sending.BulkOutcome
	err := s.call(ctx, MethodSendBulk, func(ctx context.Context) error {
		if len(b.Recipients) == 0 || len(b.Recipients) > sending.MaxBulk {
			return invalid("a bulk has 1 to 50 recipients")
		}
		return s.write(ctx, orgID, func(w *change) {
			var d *dispatch
			if d, w.err = s.dispatch(w, b.Envelope); w.err != nil {
				return
			}
			var t sending.Template
			if t, w.err = d.templateOf(b); w.err != nil {
				return
			}
			outcomes = make([]sending.BulkOutcome, 0, len(b.Recipients))
			for _, r := range b.Recipients {
				var one sending.BulkOutcome
				if one, w.err = d.bulkOne(b, t, r); w.err != nil {
					return
				}
				outcomes = append(outcomes, one)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return outcomes, nil
}

// templateOf returns the template of a bulk.
func (d *dispatch) templateOf(b sending.Bulk) (sending.Template, error) {
	if b.Template != "" {
		return d.template(b.Template)
	}
	if b.Inline.Text == "" && b.Inline.HTML == "" {
		return sending.Template{}, invalid("a template has a text or an HTML part")
	}
	return sending.Template{Subject: b.Inline.Subject, Text: b.Inline.Text, HTML: b.Inline.HTML}, nil
}

// bulkOne sends the message for one recipient of a bulk and returns its outcome. It returns
// an error only if the SQLite file fails.
func (d *dispatch) bulkOne(b sending.Bulk, t sending.Template, r sending.BulkRecipient) (sending.BulkOutcome, error) {
	m := sending.Message{Envelope: b.Envelope, To: []string{r.To}}
	m.Headers = replaceHeaders(b.Headers, r.Headers)
	m.Tags = maps.Clone(b.Tags)
	if m.Tags == nil {
		m.Tags = map[string]string{}
	}
	maps.Copy(m.Tags, r.Tags)
	id, err := d.submitTemplated(m, t, b.DefaultData, r.Data)
	failure, ok := errors.AsType[*sending.Failure](err)
	if err != nil && !ok {
		return sending.BulkOutcome{}, err
	}
	return sending.BulkOutcome{MessageID: id, Failure: failure}, nil
}

// submitTemplated submits a message that is rendered from a template with the data of all
// recipients and that of its own.
func (d *dispatch) submitTemplated(m sending.Message, t sending.Template, defaults, own string) (string, error) {
	data, err := mergeData(defaults, own)
	if err != nil {
		return "", err
	}
	content, missing, err := Render(t, data)
	if err != nil {
		return "", err
	}
	m.Content = sending.Content{Subject: content.Subject, Text: content.Text, HTML: content.HTML, Template: t.Name, TemplateData: data}
	if err := checkHeaders(m.Headers); err != nil {
		return "", err
	}
	if err := d.checkMessage(m); err != nil {
		return "", err
	}
	return d.store(m, content, missing)
}

// replaceHeaders returns the headers of all messages with those of one message, which replace
// those with the same name.
func replaceHeaders(all, own []sending.Header) []sending.Header {
	if len(own) == 0 {
		return all
	}
	var merged []sending.Header
	for _, h := range all {
		if !slices.ContainsFunc(own, func(o sending.Header) bool { return strings.EqualFold(o.Name, h.Name) }) {
			merged = append(merged, h)
		}
	}
	return append(merged, own...)
}

// ownTags returns the message's tags with up to two more, which the events of SES do not
// have: the mark of a test message and the template's name.
func ownTags(e sending.Envelope, template string) map[string]string {
	tags := maps.Clone(e.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	if e.Test {
		tags[core.TestTag] = "true"
	}
	if template != "" {
		tags[core.TemplateTag] = template
	}
	return tags
}

const (
	// nextMessage increments the number of messages of an account and returns it. Message
	// ids and random events are derived from this number.
	nextMessage = `UPDATE accounts SET messages = messages + 1 WHERE org_id = $1 RETURNING messages`
	insertSent  = `INSERT INTO sent (org_id, at, recipients) VALUES ($1, $2, $3)`
	pruneSent   = `DELETE FROM sent WHERE org_id = $1 AND at <= $2`
)

// submit validates one message, counts it against the quotas, stores its events, and
// returns its id.
func (d *dispatch) submit(m sending.Message) (string, error) {
	if err := d.checkMessage(m); err != nil {
		return "", err
	}
	content, missing, err := d.content(m.Content)
	if err != nil {
		return "", err
	}
	return d.store(m, content, missing)
}

// store counts a valid message against the quotas, stores its events, and returns its id.
// missing is the first variable of its template without a value, or "".
func (d *dispatch) store(m sending.Message, content sending.Template, missing string) (string, error) {
	recipients := recipientsOf(m)
	if err := d.checkQuotas(len(recipients)); err != nil {
		return "", err
	}
	var number int64
	if err := d.w.tx.QueryRowContext(d.w.ctx, nextMessage, d.w.orgID).Scan(&number); err != nil {
		return "", err
	}
	d.w.exec(pruneSent, d.w.orgID, d.now.Add(-day).UnixMicro())
	d.w.exec(insertSent, d.w.orgID, d.now.UnixMicro(), len(recipients))
	f := d.eventGenerator(number, m, content.Subject)
	switch {
	case missing != "":
		f.renderingFailure(m.Content.Template, missing)
	case strings.Contains(content.Text, virus) || strings.Contains(content.HTML, virus):
		f.emit(d.now, event{EventType: "Reject", Reject: &rejectDetail{Reason: "Bad content"}})
	default:
		f.recipients()
	}
	f.keep(number, m, content)
	return f.mail.MessageID, d.w.err
}

// virus is a text that counts as a virus in a message: the readable part of the EICAR test
// file for virus scanners.
const virus = "EICAR-STANDARD-ANTIVIRUS-TEST-FILE"

func recipientsOf(m sending.Message) []string {
	all := make([]string, 0, len(m.To)+len(m.CC)+len(m.BCC))
	return append(append(append(all, m.To...), m.CC...), m.BCC...)
}

// content returns the subject and the bodies of the message, rendered from its template if
// it has one. missing is the first template variable without a value, or "".
func (d *dispatch) content(c sending.Content) (rendered sending.Template, missing string, err error) {
	if c.Template == "" {
		return sending.Template{Subject: c.Subject, Text: c.Text, HTML: c.HTML}, "", nil
	}
	t, err := d.template(c.Template)
	if err != nil {
		return sending.Template{}, "", err
	}
	return Render(t, c.TemplateData)
}

const (
	countSentSince = `SELECT coalesce(sum(recipients), 0), coalesce(min(at), 0) FROM sent WHERE org_id = $1 AND at > $2`

	// exhaustedRetryAfter is the wait that callers get after the daily quota is used up, if
	// the time at which sending is possible again is unknown.
	exhaustedRetryAfter = time.Hour
)

// checkQuotas fails with Throttled if the recipients exceed the rate per second or the
// daily quota. A message with more recipients than the rate is accepted if nothing was sent
// in the last second. A rate of zero and a negative quota mean no limit. They are not counted,
// because a count of a day's messages takes milliseconds.
func (d *dispatch) checkQuotas(recipients int) error {
	n := int64(recipients)
	if rate := d.account.MaxSendRate; rate > 0 {
		used, oldest, err := d.sentSince(time.Second)
		if err != nil {
			return err
		}
		if used > 0 && used+n > rate {
			return throttledError(ErrSendingRate, oldest.Add(time.Second).Sub(d.now))
		}
	}
	if d.account.Max24HourSend < 0 {
		return nil
	}
	used, oldest, err := d.sentSince(day)
	if err != nil || d.account.SentLast24Hours+used+n <= d.account.Max24HourSend {
		return err
	}
	if used == 0 {
		return throttledError(ErrDailyQuota, exhaustedRetryAfter)
	}
	return throttledError(ErrDailyQuota, oldest.Add(day).Sub(d.now))
}

func (d *dispatch) sentSince(span time.Duration) (int64, time.Time, error) {
	var used, oldest int64
	err := d.w.tx.QueryRowContext(d.w.ctx, countSentSince, d.w.orgID, d.now.Add(-span).UnixMicro()).Scan(&used, &oldest)
	return used, timeOf(oldest), err
}
