package messages

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores messages, their events and their recipients.
type Store struct{ db *engine.DB }

var _ messages.Store = Store{}

// New returns the store of messages on the database.
func New(db *engine.DB) Store { return Store{db} }

var (
	insertEvents = engine.Register("insert message events", `
		INSERT INTO message_events (org_id, occurred_at, id, message_id, type, recipient, recipient_key,
			bounce_type, bounce_sub_type, channel, identity, template, test, metadata, recorded_at)
		SELECT $1, CAST(v ->> 'at' AS bigint), v ->> 'id', v ->> 'message', v ->> 'type',
			v ->> 'recipient', v ->> 'key', v ->> 'bounce', v ->> 'sub', v ->> 'channel',
			v ->> 'identity', v ->> 'template', CAST(v ->> 'test' AS boolean), v ->> 'metadata',
			CAST($2 AS bigint)
		FROM `+engine.ParameterRows(`$3`)+` WHERE TRUE
		ON CONFLICT DO NOTHING
		RETURNING id`)
	// mergeMessages keeps the greater of the stored and the new value of each column, with
	// three exceptions: the earlier time of sending, the status with the higher rank, and
	// the identity of the kept sender. The provider repeats the data of the mail with every
	// event. Even if events contradict each other, the result does not depend on their
	// order. The casts make texts compare by bytes.
	mergeMessages = engine.Register("merge messages", `
		INSERT INTO messages (org_id, id, sender, recipient, identity, sent_at, status, rank, last_event_at,
			channel, subject, template, test)
		SELECT $1, v ->> 'id', v ->> 'sender', v ->> 'recipient', v ->> 'identity',
			CAST(v ->> 'sent' AS bigint), v ->> 'status', CAST(v ->> 'rank' AS integer),
			CAST(v ->> 'last' AS bigint), v ->> 'channel', v ->> 'subject', v ->> 'template',
			CAST(v ->> 'test' AS boolean)
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT (org_id, id) DO UPDATE SET
			sender = CASE WHEN CAST(excluded.sender AS bytetext) > CAST(messages.sender AS bytetext) THEN excluded.sender ELSE messages.sender END,
			identity = CASE WHEN CAST(excluded.sender AS bytetext) > CAST(messages.sender AS bytetext) THEN excluded.identity ELSE messages.identity END,
			recipient = CASE WHEN CAST(excluded.recipient AS bytetext) > CAST(messages.recipient AS bytetext) THEN excluded.recipient ELSE messages.recipient END,
			sent_at = CASE WHEN excluded.sent_at < messages.sent_at THEN excluded.sent_at ELSE messages.sent_at END,
			status = CASE WHEN excluded.rank > messages.rank THEN excluded.status ELSE messages.status END,
			rank = CASE WHEN excluded.rank > messages.rank THEN excluded.rank ELSE messages.rank END,
			last_event_at = CASE WHEN excluded.last_event_at > messages.last_event_at THEN excluded.last_event_at ELSE messages.last_event_at END,
			channel = CASE WHEN excluded.channel > messages.channel THEN excluded.channel ELSE messages.channel END,
			subject = CASE WHEN CAST(excluded.subject AS bytetext) > CAST(messages.subject AS bytetext) THEN excluded.subject ELSE messages.subject END,
			template = CASE WHEN excluded.template > messages.template THEN excluded.template ELSE messages.template END,
			test = messages.test OR excluded.test
		RETURNING id, sent_at, channel, identity, template, status`)
	// misdatedRecipients selects messages for whose recipients a wrong time of sending is
	// stored. That is always a later one, because events make the time of sending earlier and
	// never later. So PostgreSQL reads only the partitions from the time of sending on. The
	// statement uses the index of recipients by message. The LATERAL subquery forces PostgreSQL
	// to use it; without statistics PostgreSQL would read the whole table.
	misdatedRecipients = engine.Register("misdated message recipients", `
		SELECT DISTINCT r.message_id FROM `+engine.ParameterRows(`$1`)+`
		CROSS JOIN /*pg LATERAL (SELECT * FROM*/ message_recipients /*pg AS of_message
			WHERE of_message.org_id = $2 AND of_message.message_id = CAST(v ->> 'message' AS bytetext)
			AND of_message.sent_at > CAST(v ->> 'sent' AS bigint) LIMIT 1000000000)*/ AS r
		WHERE r.org_id = $2 AND r.message_id = v ->> 'message' AND r.sent_at > CAST(v ->> 'sent' AS bigint)`)
	moveRecipients = engine.Register("move message recipients", `
		UPDATE message_recipients SET sent_at = `+sentOfMessage+`
		WHERE org_id = $1 AND message_id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j) AND sent_at <> `+sentOfMessage)
	insertRecipients = engine.Register("insert message recipients", `
		INSERT INTO message_recipients (org_id, recipient, sent_at, message_id)
		SELECT $1, v ->> 'recipient', CAST(v ->> 'sent' AS bigint), v ->> 'message'
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT DO NOTHING`)
)

// sentOfMessage is an SQL subquery for the time at which the message of a row of
// message_recipients was sent.
const sentOfMessage = `(SELECT m.sent_at FROM messages AS m WHERE m.org_id = message_recipients.org_id AND m.id = message_recipients.message_id)`

// eventRow is an element of the JSON parameter of insertEvents.
type eventRow struct {
	At        engine.Time `json:"at"`
	ID        string      `json:"id"`
	Message   string      `json:"message"`
	Type      string      `json:"type"`
	Recipient string      `json:"recipient"`
	Key       string      `json:"key"`
	Bounce    *string     `json:"bounce"`
	Sub       *string     `json:"sub"` // the subtype of a bounce or of a complaint
	Channel   string      `json:"channel"`
	Identity  string      `json:"identity"`
	Template  string      `json:"template"`
	Test      bool        `json:"test"`
	Metadata  *string     `json:"metadata"`
}

// mergedRow is an element of the JSON parameter of mergeMessages: the data about one
// message from the new events.
type mergedRow struct {
	ID        string      `json:"id"`
	Sender    string      `json:"sender"`
	Recipient string      `json:"recipient"`
	Identity  string      `json:"identity"`
	Sent      engine.Time `json:"sent"`
	Status    string      `json:"status"`
	Rank      int         `json:"rank"`
	Last      engine.Time `json:"last"`
	Channel   string      `json:"channel"`
	Subject   string      `json:"subject"`
	Template  string      `json:"template"`
	Test      bool        `json:"test"`
}

// recipientRow is an element of the JSON parameter of insertRecipients: a recipient of a
// message, with the time at which the message was sent.
type recipientRow struct {
	Recipient string      `json:"recipient"`
	Sent      engine.Time `json:"sent"`
	Message   string      `json:"message"`
}

// sentRow is a result row of mergeMessages: the time of sending of a message, with its
// channel, identity, template and status. These values are computed from all events of the
// message so far.
type sentRow struct {
	Message  string      `db:"id" json:"message"`
	Sent     engine.Time `db:"sent_at" json:"sent"`
	Channel  string      `db:"channel" json:"-"`
	Identity string      `db:"identity" json:"-"`
	Template string      `db:"template" json:"-"`
	Status   string      `db:"status" json:"-"`
}

// RecordEvents stores events, merges them into their messages, and returns the events that
// were new. Known events change nothing, so the provider may send an event repeatedly.
func (s Store) RecordEvents(ctx context.Context, orgID string, events []messages.Event, at time.Time) ([]messages.Event, error) {
	byID, parameter, err := eventRows(events)
	if err != nil {
		return nil, err
	}
	var fresh []messages.Event
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		ids, err := engine.Values[string](ctx, s.db, insertEvents, orgID, engine.At(at), parameter)
		if err != nil {
			return err
		}
		fresh = make([]messages.Event, len(ids))
		for i, id := range ids {
			fresh[i] = byID[id]
		}
		if len(fresh) == 0 {
			return nil
		}
		return s.mergeMessages(ctx, orgID, fresh)
	})
	if err != nil {
		return nil, err
	}
	return fresh, nil
}

// eventRows returns the events by id without duplicates, and as a JSON parameter sorted by
// id. Because of the sorting, two transactions with the same events lock rows in the same
// order and cannot deadlock.
func eventRows(events []messages.Event) (map[string]messages.Event, string, error) {
	byID := make(map[string]messages.Event, len(events))
	rows := make([]eventRow, 0, len(events))
	for _, e := range events {
		if _, twice := byID[e.ID]; twice {
			continue
		}
		byID[e.ID] = e
		rows = append(rows, eventRowOf(e))
	}
	slices.SortFunc(rows, func(a, b eventRow) int { return strings.Compare(a.ID, b.ID) })
	parameter, err := engine.JSONParameter(rows)
	return byID, parameter, err
}

// eventRowOf converts an event to a row. The field Key becomes the recipient's address in
// the form by which contacts are looked up.
func eventRowOf(e messages.Event) eventRow {
	row := eventRow{
		At: engine.At(e.OccurredAt), ID: e.ID, Message: e.MessageID, Type: string(e.Type),
		Recipient: e.Recipient, Key: core.EmailKey(e.Recipient),
		Channel: e.Mail.Channel, Identity: identityOf(e.Mail.From), Template: e.Mail.Template, Test: e.Mail.Test,
	}
	if e.Bounced != nil {
		row.Bounce, row.Sub = &e.Bounced.Type, &e.Bounced.SubType
	} else if e.ComplaintSubType != "" {
		row.Sub = &e.ComplaintSubType
	}
	if e.Metadata != nil {
		metadata := string(e.Metadata)
		row.Metadata = &metadata
	}
	return row
}

// mergeMessages merges the events of each message in memory, because one statement must not
// write a row twice. It then stores the messages, their recipients and their kinds
// (combinations of channel, identity, template and status).
func (s Store) mergeMessages(ctx context.Context, orgID string, fresh []messages.Event) error {
	merged, recipients := make(map[string]mergedRow), make(map[recipientRow]bool)
	for _, e := range fresh {
		row := mergedRowOf(e)
		if known, ok := merged[row.ID]; ok {
			row = known.join(row)
		}
		merged[row.ID] = row
		for _, recipient := range append(slices.Clip(e.Mail.To), e.Recipient) {
			if recipient != "" {
				recipients[recipientRow{Recipient: recipient, Message: e.MessageID}] = true
			}
		}
	}
	parameter, err := engine.JSONParameter(sortedValues(merged))
	if err != nil {
		return err
	}
	sent, err := engine.List[sentRow](ctx, s.db, mergeMessages, orgID, parameter)
	if err != nil {
		return err
	}
	if err := s.insertKinds(ctx, orgID, sent); err != nil {
		return err
	}
	return s.insertRecipients(ctx, orgID, slices.Collect(maps.Keys(recipients)), sent)
}

// insertRecipients stores the recipients of messages. The row of a recipient has the time
// at which the message was sent, taken from the parameter sent. A page of one recipient's
// messages is sorted by that time.
func (s Store) insertRecipients(ctx context.Context, orgID string, recipients []recipientRow, sent []sentRow) error {
	if err := s.redateRecipients(ctx, orgID, sent); err != nil {
		return err
	}
	at := make(map[string]engine.Time, len(sent))
	for _, row := range sent {
		at[row.Message] = row.Sent
	}
	for i := range recipients {
		recipients[i].Sent = at[recipients[i].Message]
	}
	slices.SortFunc(recipients, compareRecipients)
	return engine.ExecRows(ctx, s.db, insertRecipients, orgID, recipients)
}

// redateRecipients updates the time of sending in the stored recipients of messages where a
// new event has changed that time.
func (s Store) redateRecipients(ctx context.Context, orgID string, sent []sentRow) error {
	slices.SortFunc(sent, func(a, b sentRow) int { return strings.Compare(a.Message, b.Message) })
	parameter, err := engine.JSONParameter(sent)
	if err != nil {
		return err
	}
	misdated, err := engine.Values[string](ctx, s.db, misdatedRecipients, parameter, orgID)
	if err != nil || len(misdated) == 0 {
		return err
	}
	if parameter, err = engine.JSONParameter(misdated); err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, moveRecipients, orgID, parameter)
	return err
}

// compareRecipients compares rows in the order of the primary key of message_recipients.
func compareRecipients(a, b recipientRow) int {
	return cmp.Or(strings.Compare(a.Recipient, b.Recipient), cmp.Compare(a.Sent, b.Sent), strings.Compare(a.Message, b.Message))
}

// sortedValues returns the values of the map, sorted by key.
func sortedValues[V any](byKey map[string]V) []V {
	sorted := make([]V, 0, len(byKey))
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		sorted = append(sorted, byKey[key])
	}
	return sorted
}

// mergedRowOf returns the data about a message that one event contains. If the event's type
// is not a status of messages, the status is Send.
func mergedRowOf(e messages.Event) mergedRow {
	row := mergedRow{
		ID: e.MessageID, Sender: e.Mail.From, Identity: identityOf(e.Mail.From), Sent: engine.At(e.SentAt()),
		Status: string(messages.Send), Rank: messages.Rank(e.Type), Last: engine.At(e.OccurredAt),
		Channel: e.Mail.Channel, Subject: e.Mail.Subject, Template: e.Mail.Template, Test: e.Mail.Test,
	}
	if len(e.Mail.To) > 0 {
		row.Recipient = e.Mail.To[0]
	}
	if row.Rank > 0 {
		row.Status = string(e.Type)
	}
	return row
}

// join merges two rows of the same message in memory, by the same rules as the statement
// mergeMessages.
func (m mergedRow) join(other mergedRow) mergedRow {
	if other.Sender > m.Sender {
		m.Sender, m.Identity = other.Sender, other.Identity
	}
	if other.Rank > m.Rank {
		m.Status, m.Rank = other.Status, other.Rank
	}
	m.Recipient, m.Channel = max(m.Recipient, other.Recipient), max(m.Channel, other.Channel)
	m.Subject, m.Template = max(m.Subject, other.Subject), max(m.Template, other.Template)
	m.Sent, m.Last = min(m.Sent, other.Sent), max(m.Last, other.Last)
	m.Test = m.Test || other.Test
	return m
}

// identityOf returns the domain of an email address in lower case.
func identityOf(address string) string {
	return strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
}

// messageRow is a row of messages, merged from all events so far. Recipient is the first
// recipient.
type messageRow struct {
	ID          string      `db:"id"`
	Sender      string      `db:"sender"`
	Recipient   string      `db:"recipient"`
	Identity    string      `db:"identity"`
	SentAt      engine.Time `db:"sent_at"`
	Status      string      `db:"status"`
	LastEventAt engine.Time `db:"last_event_at"`
	Channel     string      `db:"channel"`
	Subject     string      `db:"subject"`
	Template    string      `db:"template"`
	Test        bool        `db:"test"`
}

// message converts the row.
func (r messageRow) message() messages.Message {
	return messages.Message{
		ID: r.ID, From: r.Sender, To: r.Recipient, Identity: r.Identity, SentAt: r.SentAt.Time(),
		Status: messages.EventType(r.Status), LastEventAt: r.LastEventAt.Time(),
		Channel: r.Channel, Subject: r.Subject, Template: r.Template, Test: r.Test,
	}
}

// messageEventRow is a row of message_events. Sub is the subtype of the bounce if the event
// is a bounce, and the subtype of the complaint if it is a complaint.
type messageEventRow struct {
	OccurredAt engine.Time `db:"occurred_at"`
	ID         string      `db:"id"`
	MessageID  string      `db:"message_id"`
	Type       string      `db:"type"`
	Recipient  string      `db:"recipient"`
	Bounce     *string     `db:"bounce_type"`
	Sub        *string     `db:"bounce_sub_type"`
	Channel    string      `db:"channel"`
	Template   string      `db:"template"`
	Test       bool        `db:"test"`
	Metadata   *string     `db:"metadata"`
}

// event converts the row to a messages.Event. Sender, recipients, subject and time of
// sending are missing, because they are stored with the message.
func (r messageEventRow) event() messages.Event {
	e := messages.Event{
		ID: r.ID, MessageID: r.MessageID, Type: messages.EventType(r.Type), OccurredAt: r.OccurredAt.Time(), Recipient: r.Recipient,
		Mail: messages.Mail{Channel: r.Channel, Template: r.Template, Test: r.Test},
	}
	switch {
	case r.Sub == nil:
	case r.Bounce != nil:
		e.Bounced = &messages.BounceKind{Type: *r.Bounce, SubType: *r.Sub}
	default:
		e.ComplaintSubType = *r.Sub
	}
	if r.Metadata != nil {
		e.Metadata = json.RawMessage(*r.Metadata)
	}
	return e
}

var (
	messageByID = engine.RegisterPoint("message", `
		SELECT id, sender, recipient, identity, sent_at, status, last_event_at, channel, subject, template, test
		FROM messages WHERE org_id = $1 AND id = $2`)
	// messageEvents selects the events of a message, oldest first, through the index
	// message_events_of_message.
	messageEvents = engine.RegisterPoint("events of a message", `
		SELECT occurred_at, id, message_id, type, recipient, bounce_type, bounce_sub_type, channel, template, test, metadata
		FROM message_events WHERE org_id = $1 AND message_id = $2 ORDER BY occurred_at, id`)
)

// recipientsOfMessages selects the recipients of a page of messages through the index
// message_recipients_of_message. SQLite uses this index only because of the CROSS JOIN and
// the condition on sent_at. It would otherwise read the whole primary key, because the
// primary key has all needed columns.
var recipientsOfMessages = engine.Register("recipients of messages", `
	SELECT r.message_id, r.recipient FROM json_each(CAST($1 AS text)) AS j CROSS JOIN message_recipients AS r
	WHERE r.org_id = $2 AND r.message_id = j.atom AND r.sent_at > 0`)

func (s Store) Recipients(ctx context.Context, orgID string, ids []string) (map[string][]string, error) {
	parameter, err := engine.JSONParameter(ids)
	if err != nil {
		return nil, err
	}
	rows, err := engine.List[struct {
		Message   string `db:"message_id"`
		Recipient string `db:"recipient"`
	}](ctx, s.db, recipientsOfMessages, parameter, orgID)
	if err != nil {
		return nil, err
	}
	recipients := make(map[string][]string, len(ids))
	for _, r := range rows {
		recipients[r.Message] = append(recipients[r.Message], r.Recipient)
	}
	return recipients, nil
}

func (s Store) Message(ctx context.Context, orgID, id string) (messages.Message, error) {
	row, err := engine.One[messageRow](ctx, s.db, "message", messageByID, orgID, id)
	if err != nil {
		return messages.Message{}, err
	}
	return row.message(), nil
}

func (s Store) MessageEvents(ctx context.Context, orgID, id string) ([]messages.Event, error) {
	return engine.ListAs(ctx, s.db, messageEventRow.event, messageEvents, orgID, id)
}
