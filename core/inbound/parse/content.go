package parse

import (
	"bytes"
	"io"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound/htmltext"
)

// Content is what Parse found in a message. All strings are valid UTF-8 without NUL. They
// are chosen by the sender of the message, the display names and addresses included.
type Content struct {
	// From is the first author. Its Address is empty if the message has no readable From.
	From Address
	To   []Address
	Cc   []Address
	// ReplyTo is nil if the message has no Reply-To; answers then go to From.
	ReplyTo []Address
	Subject string
	// Date is when the sender claims to have written the message, with its time zone. It is
	// zero if the field is missing or unreadable.
	Date time.Time

	// HeaderMessageID, InReplyTo and References are message identifiers without angle
	// brackets. References has at most 100 of them, the most recent ones.
	HeaderMessageID string
	InReplyTo       string
	References      []string

	// Headers has the fields of the message in their order, trace fields included, with
	// values unfolded and decoded (RFC 2047).
	Headers []Header

	// TextBody is the text of the message: its text/plain parts that are no attachments,
	// in their order, with lines that end in "\n". It is empty if the message has only HTML.
	TextBody string
	// HTMLBody is the HTML of the message, unchanged except for charset and line ends. It is
	// not safe to display outside of a sandbox without scripts and network.
	HTMLBody string

	// Attachments has every other part, in their order: files, embedded images, attached
	// messages, calendar entries, signatures.
	Attachments []Attachment

	// Warnings says how the message deviates and what was left out, one warning for each
	// code, in the order of their occurrence.
	Warnings []Warning
}

// IsHTML reports whether the message has an HTML body.
func (c *Content) IsHTML() bool { return c.HTMLBody != "" }

// Text returns the text of the message: TextBody, or else text made from HTMLBody. The
// conversion is done on each call, in time proportional to the size of the HTML.
func (c *Content) Text() string {
	if c.TextBody != "" || c.HTMLBody == "" {
		return c.TextBody
	}
	return htmltext.Convert(c.HTMLBody).Text
}

// Address is one mailbox of a header field.
type Address struct {
	// Name is the display name without quotes, or "". It has no control characters and no
	// characters that change the direction of text.
	Name string
	// Address is the mailbox as written, such as "Anna@example.org". It is empty if the
	// field has a name without an address.
	Address string
}

// Header is one header field.
type Header struct {
	// Name is written as in the message.
	Name string
	// Value is one line.
	Value string
}

// Attachment is a part of the message that is not shown as its text. Its content stays in
// the message until Open is called.
type Attachment struct {
	// Filename is the last element of the sender's file name, safe for a file system: no
	// separators, control, direction or reserved characters, no dot in front, at most 200
	// bytes. It is empty if the sender gave none.
	Filename string
	// ContentType is the media type in lower case, without parameters.
	ContentType string
	// ContentID is the identifier that HTML refers to as "cid:", without angle brackets.
	ContentID string
	// Inline is true if the part is displayed inside the message.
	Inline bool
	// Size is the number of bytes that Open returns.
	Size int64

	raw        io.ReaderAt
	start, end int64
	encoding   string
}

// Open returns the content of the attachment, with the transfer encoding removed. It reads
// from the message that was passed to Parse, which must still be open. Open may be called
// several times, also at the same time if the message can be read so.
func (a *Attachment) Open() io.Reader {
	return decodeTransfer(a.encoding, io.NewSectionReader(a.raw, a.start, a.end-a.start))
}

// Warning is one kind of deviation of a message.
type Warning struct {
	Code Code
	// Detail says where it occurred first, such as the name of a field. It may be empty.
	Detail string
}

// Code says what a warning is about.
type Code string

// The codes of warnings.
const (
	// NestingLimit: a multipart below Limits.Depth became an attachment.
	NestingLimit Code = "nesting_limit"
	// PartLimit: parts after the first Limits.Parts were left out.
	PartLimit Code = "part_limit"
	// HeaderLimit: fields were left out of Content.Headers.
	HeaderLimit Code = "header_limit"
	// ValueCut: a header value was cut.
	ValueCut Code = "value_cut"
	// AddressLimit: addresses were left out.
	AddressLimit Code = "address_limit"
	// BodyCut: TextBody or HTMLBody was cut.
	BodyCut Code = "body_cut"
	// MalformedHeader: a line of a header is not a field, and was left out.
	MalformedHeader Code = "malformed_header"
	// DuplicateField: a field that may occur once occurs again; the first one was used.
	DuplicateField Code = "duplicate_field"
	// InvalidAddress: an address is unreadable and was left out.
	InvalidAddress Code = "invalid_address"
	// MultipleFrom: the message claims several authors.
	MultipleFrom Code = "multiple_from"
	// InvalidDate: the Date field is unreadable.
	InvalidDate Code = "invalid_date"
	// MissingBoundary: a multipart states no boundary; its first delimiter was used.
	MissingBoundary Code = "missing_boundary"
	// EmptyMultipart: a multipart has no parts, and its content was taken as text.
	EmptyMultipart Code = "empty_multipart"
	// Unterminated: a multipart has no closing delimiter. The message may be incomplete.
	Unterminated Code = "unterminated_multipart"
	// UnknownCharset: a charset is not supported, and another one was guessed.
	UnknownCharset Code = "unknown_charset"
	// InvalidText: bytes do not fit the charset, and were replaced.
	InvalidText Code = "invalid_text"
	// UnknownEncoding: a transfer encoding is unknown, and the content was left encoded.
	UnknownEncoding Code = "unknown_encoding"
	// DamagedEncoding: base64 or quoted-printable has errors, which were skipped.
	DamagedEncoding Code = "damaged_encoding"
)

// Bytes is Parse for a message in memory, which the caller must not change afterwards.
func Bytes(raw []byte, limits Limits) *Content {
	c, _ := Parse(bytes.NewReader(raw), int64(len(raw)), limits) // reading memory does not fail
	return c
}
