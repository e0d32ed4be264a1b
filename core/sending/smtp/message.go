package smtp

import (
	"fmt"
	"maps"
	"mime"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	maxRecipients = 100 // RFC 5321 section 4.5.3.1.8: every server accepts at least 100
	maxFields     = 100 // tags and added headers together
	maxFieldName  = 60
	maxWord       = 900 // in bytes; words are not split at line ends, and a line has at most 998 bytes
	maxFieldValue = 8_000
)

// tagPrefix is the prefix of the header fields that contain the message's tags.
const tagPrefix = "X-Mailhelm-Tag-"

// letter is a message as it is sent to the server, with its envelope: the sender and the
// recipients.
type letter struct {
	id         string // without angle brackets
	from       string
	recipients []string
	data       []byte // valid until buffers are used again
	buffers    *buffers
}

// compose returns the message in MIME format. It fails with Invalid for every value that a
// message cannot contain unchanged. It never drops or repairs a value.
func compose(m sending.Message, now time.Time, b *buffers) (letter, error) {
	from, err := addressOf("From", m.From)
	if err != nil {
		return letter{}, err
	}
	_, domain, _ := strings.Cut(from.Address, "@")
	l := letter{id: core.NewID() + "@" + domain, from: from.Address, buffers: b}
	var h fields
	h.add("Date", now.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	h.add("Message-Id", "<"+l.id+">")
	h.add("From", from.String())
	for _, list := range []struct {
		name   string
		values []string
		hidden bool
		reply  bool
	}{{name: "Reply-To", values: m.ReplyTo, reply: true}, {name: "To", values: m.To}, {name: "Cc", values: m.CC}, {name: "Bcc", values: m.BCC, hidden: true}} {
		shown, plain, err := addressesOf(list.name, list.values)
		if err != nil {
			return letter{}, err
		}
		if !list.reply {
			l.recipients = append(l.recipients, plain...)
		}
		if !list.hidden && shown != "" {
			h.add(list.name, shown)
		}
	}
	if len(l.recipients) == 0 || len(l.recipients) > maxRecipients {
		return letter{}, invalid(fmt.Sprintf("a message has 1 to %d recipients", maxRecipients))
	}
	h.text("Subject", m.Content.Subject)
	if err := h.addTags(m.Envelope); err != nil {
		return letter{}, err
	}
	if err := h.addHeaders(m.Headers); err != nil {
		return letter{}, err
	}
	if h.err != nil {
		return letter{}, h.err
	}
	l.data, err = encode(h, m.Content, b)
	return l, err
}

// addressOf parses an address with or without a display name. It fails with Invalid for
// addresses that other parts of Mailhelm refuse, such as quoted or non-ASCII ones.
func addressOf(field, value string) (*mail.Address, error) {
	if hasControl(value) || len(value) > maxFieldValue {
		return nil, invalid(field + " has control characters or is too long")
	}
	a, err := mail.ParseAddress(value)
	if err != nil || !core.IsEmail(a.Address) || hasControl(a.Name) {
		return nil, invalid(field + " is not an address")
	}
	return a, nil
}

func addressesOf(field string, values []string) (shown string, plain []string, err error) {
	if len(values) > maxRecipients {
		return "", nil, invalid(field + " has too many addresses")
	}
	var all []string
	for _, value := range values {
		a, err := addressOf(field, value)
		if err != nil {
			return "", nil, err
		}
		all, plain = append(all, a.String()), append(plain, a.Address)
	}
	return strings.Join(all, ", "), plain, nil
}

// fields collects the header fields of a message in order. err is the first error; a
// message with an error is not sent.
type fields struct {
	all []sending.Header
	err error
}

func (f *fields) add(name, value string) {
	if hasControl(value) || strings.ContainsFunc(value, func(r rune) bool { return r > '~' }) {
		f.refuse(name + " has characters that a header must not have")
	}
	for word := range strings.SplitSeq(value, " ") {
		if len(word) > maxWord {
			f.refuse(name + " has a word that is too long for a line")
		}
	}
	f.all = append(f.all, sending.Header{Name: name, Value: value})
}

// text adds a header field with text for people, encoded if necessary (RFC 2047).
func (f *fields) text(name, value string) {
	switch {
	case len(value) > maxFieldValue:
		f.refuse(name + " is too long")
	case hasControl(value):
		f.refuse(name + " has control characters or is not UTF-8")
	default:
		f.add(name, encodedText(value))
	}
}

// encodedText returns the value of a header field unchanged if it is plain ASCII that line
// folding does not change, else as encoded words (RFC 2047). It also encodes text that
// looks like an encoded word, because mail programs would decode it.
func encodedText(value string) string {
	encoded := mime.QEncoding.Encode("utf-8", value)
	if encoded != value || !strings.Contains(value, "=?") && !strings.Contains(value, "  ") && strings.TrimSpace(value) == value {
		return encoded
	}
	var words []string
	for piece := range slices.Chunk([]byte(value), 20) {
		words = append(words, "=?utf-8?q?"+quoteAll(piece)+"?=")
	}
	return strings.Join(words, " ")
}

func quoteAll(piece []byte) string {
	var b strings.Builder
	for _, c := range piece {
		fmt.Fprintf(&b, "=%02X", c)
	}
	return b.String()
}

func (f *fields) refuse(text string) {
	if f.err == nil {
		f.err = invalid(text)
	}
}

// addTags adds a header field for each tag of e, in the order of the tags' names. For a
// test message it also adds the tag that marks test messages.
func (f *fields) addTags(e sending.Envelope) error {
	tags := e.Tags
	if e.Test {
		tags = maps.Clone(tags)
		if tags == nil {
			tags = map[string]string{}
		}
		tags[core.TestTag] = "true"
	}
	if len(tags)+len(e.Headers) > maxFields {
		return invalid(fmt.Sprintf("a message has at most %d tags and headers", maxFields))
	}
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		if !isFieldName(tagPrefix + name) {
			return invalid("a tag's name is one to 45 letters, digits and hyphens or underscores")
		}
		f.text(tagPrefix+name, tags[name])
	}
	return nil
}

// ours are the header fields that callers cannot set: those that compose writes, and those
// that servers add in transit. Callers cannot set names that begin with Content- or Resent-
// either.
var ours = []string{
	"From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Subject", "Date", "Message-Id", "Mime-Version",
	"Return-Path", "Received", "Dkim-Signature", "Arc-Seal", "Authentication-Results",
}

func (f *fields) addHeaders(headers []sending.Header) error {
	for _, header := range headers {
		if !isFieldName(header.Name) {
			return invalid("a header's name is one to 60 letters, digits and hyphens or underscores")
		}
		isOurs := func(name string) bool { return strings.EqualFold(name, header.Name) }
		lower := strings.ToLower(header.Name)
		if slices.ContainsFunc(ours, isOurs) || strings.HasPrefix(lower, "content-") || strings.HasPrefix(lower, "resent-") {
			return invalid("Mailhelm sets this header itself: " + header.Name)
		}
		f.text(header.Name, header.Value)
	}
	return nil
}

// isFieldName reports whether callers may use name for a header field: 1 to 60 letters,
// digits, hyphens and underscores. RFC 5322 allows more, but these suffice in practice.
func isFieldName(name string) bool {
	return name != "" && len(name) <= maxFieldName && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
}

// hasControl reports whether s has control characters or is not valid UTF-8.
func hasControl(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029'
	})
}
