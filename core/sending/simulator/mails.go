package simulator

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sentmail"
)

const (
	// DefaultKeptMails is a suitable number for Options.KeptMails outside tests.
	DefaultKeptMails = 1000

	// maxKeptBody is the maximum number of bytes of a kept text or HTML part.
	maxKeptBody = 512 << 10
	// pruneEvery is the number of messages of an account after which the oldest kept ones
	// are deleted. A deletion for every message would double the cost of keeping it.
	pruneEvery = 100

	mailsList = "mails"
)

const (
	insertMail = `
INSERT INTO mails (org_id, number, message_id, at, sender, recipients, subject, search, configuration_set, test, outcome,
	tags, headers, cut, body_text, body_html)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`
	pruneMails  = `DELETE FROM mails WHERE org_id = $1 AND number <= $2`
	selectMails = `
SELECT number, message_id, at, sender, recipients, subject, configuration_set, test, outcome FROM mails
WHERE org_id = $1 AND number < $2 AND ($3 = '' OR instr(search, $3) > 0) ORDER BY number DESC LIMIT +$4`
	// selectMail reads at most the index entries of one account, a few pages of the file.
	selectMail = `
SELECT number, message_id, at, sender, recipients, subject, configuration_set, test, outcome, tags, headers, cut, body_text, body_html
FROM mails WHERE org_id = $1 AND message_id = $2`
)

// keep stores a message with its content, in the transaction that sends it. From time to
// time it deletes the account's oldest messages. It does nothing if no messages are kept.
func (f *eventGenerator) keep(number int64, m sending.Message, content sending.Template) {
	w, most := f.d.w, f.d.s.keptMails
	if w.err != nil || most <= 0 {
		return
	}
	recipients := encodeJSON(recipientsOf(m))
	text, textCut := cutBody(content.Text)
	html, htmlCut := cutBody(content.HTML)
	insert := w.tx.StmtContext(w.ctx, f.d.s.insertMail) //nolint:sqlclosecheck // closed with the transaction
	_, w.err = insert.ExecContext(w.ctx, w.orgID, number, f.mail.MessageID, f.d.now.UnixMicro(), m.From,
		recipients, content.Subject, strings.ToLower(strings.Join(recipientsOf(m), "\n")+"\n"+content.Subject), m.ConfigurationSet,
		m.Tags[core.TestTag] != "", string(f.outcome), encodeJSON(m.Tags), encodeJSON(f.mail.Headers), textCut || htmlCut, text, html)
	if number%pruneEvery == 0 {
		w.exec(pruneMails, w.orgID, number-int64(most))
	}
}

// cutBody returns at most maxKeptBody bytes of a text or HTML part, and whether it is
// shorter than the part.
func cutBody(body string) (string, bool) {
	if len(body) <= maxKeptBody {
		return body, false
	}
	return strings.ToValidUTF8(body[:maxKeptBody], ""), true
}

// encodeJSON returns v, which has only texts, as JSON.
func encodeJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts, arrays and objects of texts can always be encoded
	}
	return string(text)
}

// severity orders the outcomes of a message by the events that report them.
var severity = []struct {
	eventType string
	outcome   sentmail.Outcome
}{
	{"Reject", sentmail.Rejected},
	{"Rendering Failure", sentmail.RenderingFailed},
	{"Bounce", sentmail.Bounced},
	{"Complaint", sentmail.Complained},
	{"Delivery", sentmail.Delivered},
}

// noteOutcome changes the outcome of the message if the event reports a more severe one.
func (f *eventGenerator) noteOutcome(eventType string) {
	for _, s := range severity {
		if f.outcome == s.outcome {
			return
		}
		if eventType == s.eventType {
			f.outcome = s.outcome
			return
		}
	}
}

// Mails returns a page of the kept messages of an organization, newest first, and the
// cursor of the next page, or "". There are at most Options.KeptMails messages, and up to
// 99 more until the oldest are deleted. It fails with NotConnected if the organization has
// no account, and with Invalid for a cursor of another list. Simulated faults do not apply
// to it, because it is no method of a sending account.
func (s *Simulator) Mails(ctx context.Context, orgID string, q sentmail.Query) ([]sentmail.Summary, string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	page, next, err := s.readMails(ctx, orgID, q)
	return page, next, failureOf(err)
}

func (s *Simulator) readMails(ctx context.Context, orgID string, q sentmail.Query) ([]sentmail.Summary, string, error) {
	scope := listing{orgID: orgID, name: mailsList}.scope()
	before, err := sending.DecodePageToken(scope, q.Cursor)
	if err != nil {
		return nil, "", err
	}
	if before == 0 {
		before = math.MaxInt64
	}
	if _, err := readAccount(ctx, s.selectAccount, orgID); err != nil {
		return nil, "", err
	}
	limit := q.Limit
	if limit <= 0 || limit > sentmail.MaxPage {
		limit = sentmail.MaxPage
	}
	var page []sentmail.Summary
	next, last := "", int64(0)
	err = eachRow(ctx, s.selectMails, func(rows *sql.Rows) error {
		if len(page) == limit {
			next = sending.EncodePageToken(scope, last)
			return nil
		}
		var m sentmail.Summary
		var err error
		last, err = scanSummary(rows, &m)
		page = append(page, m)
		return err
	}, orgID, before, strings.ToLower(q.Search), limit+1)
	return page, next, err
}

// Mail returns a kept message by its id. It fails with NotFound if the message was never
// sent, or is no longer kept.
func (s *Simulator) Mail(ctx context.Context, orgID, messageID string) (sentmail.Mail, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	m, err := s.readMail(ctx, orgID, messageID)
	if errors.Is(err, sql.ErrNoRows) {
		err = s.absenceError(ctx, orgID, "the account does not keep a message with this id")
	}
	return m, failureOf(err)
}

func (s *Simulator) readMail(ctx context.Context, orgID, messageID string) (sentmail.Mail, error) {
	var m sentmail.Mail
	var tags, headers string
	_, err := scanSummary(s.selectMail.QueryRowContext(ctx, orgID, messageID), &m.Summary, &tags, &headers, &m.Cut, &m.Text, &m.HTML)
	if err != nil {
		return sentmail.Mail{}, err
	}
	var fields []headerField
	if err := errors.Join(json.Unmarshal([]byte(tags), &m.Tags), json.Unmarshal([]byte(headers), &fields)); err != nil {
		return sentmail.Mail{}, err
	}
	for _, field := range fields {
		m.Headers = append(m.Headers, sentmail.Header{Name: field.Name, Value: field.Value})
	}
	return m, nil
}

// scanSummary reads the columns of a row into m, further ones into more, and returns the
// message's number.
func scanSummary(row interface{ Scan(into ...any) error }, m *sentmail.Summary, more ...any) (int64, error) {
	var number, at int64
	var recipients string
	err := row.Scan(append([]any{&number, &m.ID, &at, &m.From, &recipients, &m.Subject, &m.ConfigurationSet, &m.Test, &m.Outcome}, more...)...)
	if err != nil {
		return 0, err
	}
	m.SentAt = timeOf(at)
	return number, json.Unmarshal([]byte(recipients), &m.Recipients)
}
