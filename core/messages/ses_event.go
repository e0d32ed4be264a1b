package messages

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// MaxSESEvent is the maximum size of an SES event in bytes: the limit of Amazon SNS and
// Amazon EventBridge.
const MaxSESEvent = 256 << 10

// The limits for the parts of an event: maxRecipients is a number, the others are in bytes.
// Events of SES are far below them.
const (
	maxMessageID  = 200
	maxRecipients = 500
	maxAddress    = 320
	maxName       = 256
	maxSubject    = 1000
)

// farFuture is how far the time of an event may be ahead of the clock. A later time is
// refused, and so is a time before the year 2000 (earliest).
const farFuture = 24 * time.Hour

var earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// sesMail is the JSON member "mail", which every SES event has and which describes the
// message.
type sesMail struct {
	Timestamp     string         `json:"timestamp"`
	MessageID     string         `json:"messageId"`
	Source        string         `json:"source"`
	Destination   []string       `json:"destination"`
	Tags          map[string]any `json:"tags"`
	CommonHeaders struct {
		From    []string `json:"from"`
		Subject string   `json:"subject"`
	} `json:"commonHeaders"`
}

// ParseSES parses an event of Amazon SES in any of three forms: event publishing
// (eventType), identity notifications (notificationType) and Amazon EventBridge (detail).
// It returns one event for each recipient. It fails with core.CodeValidationFailed if a
// required member is missing or invalid; it does not check other members.
func ParseSES(raw []byte, now time.Time) ([]Event, error) {
	if len(raw) > MaxSESEvent {
		return nil, core.Invalid("", "is longer than 256 KB")
	}
	if !utf8.Valid(raw) {
		return nil, core.Invalid("", "is not valid UTF-8")
	}
	members, err := sesMembers(raw)
	if err != nil {
		return nil, err
	}
	if detail, enveloped := members["detail"]; enveloped && members["eventType"] == nil {
		if members, err = sesMembers(detail); err != nil {
			return nil, err
		}
	}
	kind, err := sesKindOf(members)
	if err != nil {
		return nil, err
	}
	mail, err := sesMailOf(members["mail"], now)
	if err != nil {
		return nil, err
	}
	return kind.events(members, mail, now)
}

func sesMembers(raw []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, core.Invalid("", "is not a JSON object")
	}
	return members, nil
}

func sesKindOf(members map[string]json.RawMessage) (sesKind, error) {
	member := "eventType"
	if members[member] == nil {
		member = "notificationType"
	}
	var name string
	if err := json.Unmarshal(members[member], &name); err != nil {
		return sesKind{}, core.Invalid("eventType", "is missing or not a string")
	}
	kind, known := sesKinds[name]
	if !known {
		return sesKind{}, core.Invalid("eventType", "is not one of the ten event types of Amazon SES")
	}
	return kind, nil
}

// mailOf is the message that an SES event describes, with the message id.
type mailOf struct {
	Mail
	messageID string
}

func sesMailOf(raw json.RawMessage, now time.Time) (mailOf, error) {
	var m sesMail
	if raw == nil {
		return mailOf{}, core.Invalid("mail", "is missing")
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return mailOf{}, core.Invalid("mail", "is not an object of the documented form")
	}
	if !isMessageID(m.MessageID) {
		return mailOf{}, core.Invalid("mail.messageId", "is missing or not an id of visible ASCII characters")
	}
	sent, err := sesTime("mail.timestamp", m.Timestamp, now)
	if err != nil {
		return mailOf{}, err
	}
	to, err := addresses("mail.destination", m.Destination)
	if err != nil {
		return mailOf{}, err
	}
	return mailOf{messageID: m.MessageID, Mail: Mail{
		From: m.from(), To: to, SentAt: sent, Subject: cleanText(m.CommonHeaders.Subject, maxSubject),
		Template: m.tag(core.TemplateTag), Channel: m.tag("ses:configuration-set"),
		Send: m.tag(core.SendTag), SendRecipient: m.tag(core.RecipientTag), Test: m.Tags[core.TestTag] != nil,
	}}, nil
}

// from returns the sender's address. It prefers the member source, which every SES event
// has, over the headers, which only some have. So all events of a message have the same
// sender.
func (m sesMail) from() string {
	if from := address(m.Source); from != "" || len(m.CommonHeaders.From) == 0 {
		return cut(from, maxAddress)
	}
	return cut(address(m.CommonHeaders.From[0]), maxAddress)
}

// tag returns the first value of the message tag with this name, "" if the message has no
// such tag.
func (m sesMail) tag(name string) string {
	value := m.Tags[name]
	if several, ok := value.([]any); ok && len(several) > 0 {
		value = several[0]
	}
	text, _ := value.(string)
	return cleanText(text, maxName)
}

// isMessageID reports whether id is a valid message id: 1 to 200 visible ASCII characters,
// which are safe in paths and logs.
func isMessageID(id string) bool {
	return id != "" && len(id) <= maxMessageID && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

func sesTime(member, text string, now time.Time) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return t, core.Invalid(member, "is missing or not a time such as 2026-01-31T09:30:00.000Z")
	case t.After(now.Add(farFuture)):
		return t, core.Invalid(member, "is more than a day in the future")
	case t.Before(earliest):
		return t, core.Invalid(member, "is before the year 2000")
	}
	return t.UTC().Truncate(time.Microsecond), nil
}

// addresses returns the email address in each of the texts, without empty ones. It fails if
// there are too many addresses or one is too long; the error names the JSON member in the
// parameter member.
func addresses(member string, texts []string) ([]string, error) {
	if len(texts) > maxRecipients {
		return nil, core.Invalid(member, "names more than 500 recipients")
	}
	all := make([]string, 0, len(texts))
	for _, text := range texts {
		a := address(text)
		if len(a) > maxAddress {
			return nil, core.Invalid(member, "has an address of more than 320 bytes")
		}
		if a != "" {
			all = append(all, a)
		}
	}
	return all, nil
}

// address returns the address in a header value: the text in angle brackets, or the whole
// text if there are none.
func address(text string) string {
	text = strings.TrimSpace(cleanText(text, maxSubject))
	if open := strings.LastIndexByte(text, '<'); open >= 0 && strings.HasSuffix(text, ">") {
		return strings.TrimSpace(text[open+1 : len(text)-1])
	}
	return text
}

// cleanText returns text as valid UTF-8 without NUL, cut to limit bytes. SQLite and
// PostgreSQL can store such text, and JSON can represent it.
func cleanText(text string, limit int) string {
	return cut(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", ""), limit)
}

// cut shortens text to at most limit bytes without splitting a character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// UnwrapSES returns the SES event in a notification of Amazon SNS. If raw is not such a
// notification, it returns raw. It does not verify the signature: the caller must, unless
// the sender is trusted.
func UnwrapSES(raw []byte) []byte {
	var notification struct {
		Type    string
		Message *string
	}
	if !bytes.Contains(raw, []byte(`"TopicArn"`)) || json.Unmarshal(raw, &notification) != nil {
		return raw
	}
	if notification.Type != "Notification" || notification.Message == nil {
		return raw
	}
	return []byte(*notification.Message)
}

// IsSESNotice reports whether message is the test message that Amazon SES sends to a new
// SNS topic. It is not an event.
func IsSESNotice(message []byte) bool {
	return bytes.HasPrefix(message, []byte("Successfully validated SNS topic for Amazon SES")) ||
		bytes.Contains(message, []byte(`"AmazonSnsSubscriptionSucceeded"`)) && len(message) < maxSubject
}
