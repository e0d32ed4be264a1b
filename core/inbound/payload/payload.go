// Package payload has the JSON form of received messages, version 1. Polls of temporary
// inboxes return it, and the webhooks of receiving domains send it; each adds members of its
// own.
package payload

import (
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
)

// Payload is the part of the JSON form that polls and webhooks share. Everything from the
// message itself was written by its sender.
type Payload struct {
	SchemaVersion int              `json:"schema_version" jsonschema_description:"Version of this form: 1."`
	MessageID     string           `json:"message_id" voice:"ours" jsonschema_description:"Id of the message here. It is not the Message-ID of its header."`
	ReceivedAt    time.Time        `json:"received_at"`
	Sender        string           `json:"sender" voice:"untrusted" jsonschema_description:"Envelope sender (MAIL FROM), empty for the null sender of a bounce."`
	Recipients    []string         `json:"recipients" voice:"untrusted" jsonschema_description:"Envelope recipients (RCPT TO) that this copy of the message is for."`
	Verdicts      inbound.Verdicts `json:"verdicts"`
	Message       Message          `json:"message"`
	RawURL        string           `json:"raw_url" voice:"ours" jsonschema_description:"Signed link to the message as it was received (message/rfc822). It expires."`
}

// Message is the content of a message.
type Message struct {
	From    *Address  `json:"from" jsonschema_description:"First address of From, null if the message has none."`
	To      []Address `json:"to"`
	Cc      []Address `json:"cc"`
	ReplyTo []Address `json:"reply_to"`
	Subject string    `json:"subject" voice:"untrusted"`
	Date    string    `json:"date" voice:"untrusted" jsonschema_description:"Date of the header as the sender wrote it, empty if there is none."`
	// HeaderMessageID, InReplyTo and References are the ids of RFC 5322 section 3.6.4.
	HeaderMessageID string   `json:"header_message_id" voice:"untrusted" jsonschema_description:"Message-ID of the header, empty if there is none."`
	InReplyTo       string   `json:"in_reply_to" voice:"untrusted"`
	References      []string `json:"references" voice:"untrusted"`
	Headers         []Header `json:"headers" jsonschema_description:"All header fields in their order, decoded."`
	// TextBody is nil if TextBodyURL replaces it. HTMLBody is alike.
	TextBody    *string      `json:"text_body,omitempty" voice:"untrusted" jsonschema_description:"Text of the message, empty if it has none. Absent if text_body_url replaces it."`
	TextBodyURL string       `json:"text_body_url,omitempty" voice:"ours" jsonschema_description:"Signed link to the text, in place of a text_body over 256 KB."`
	HTMLBody    *string      `json:"html_body,omitempty" voice:"untrusted" jsonschema_description:"HTML of the message, empty if it has none. Absent if html_body_url replaces it."`
	HTMLBodyURL string       `json:"html_body_url,omitempty" voice:"ours" jsonschema_description:"Signed link to the HTML, in place of an html_body over 256 KB."`
	Attachments []Attachment `json:"attachments"`
	Warnings    []string     `json:"warnings,omitempty" voice:"untrusted" jsonschema_description:"What could not be read of a malformed message, with words of its sender."`
}

// Address is an address of a header.
type Address struct {
	Address string `json:"address" voice:"untrusted"`
	Name    string `json:"name" voice:"untrusted" jsonschema_description:"Display name, empty if there is none."`
}

// Header is a field of the header.
type Header struct {
	Name  string `json:"name" voice:"untrusted"`
	Value string `json:"value" voice:"untrusted"`
}

// Attachment is an attachment with the link to its content.
type Attachment struct {
	Filename    string `json:"filename" voice:"untrusted"`
	ContentType string `json:"content_type" voice:"untrusted"`
	Size        int64  `json:"size" jsonschema_description:"Size in bytes after decoding."`
	ContentID   string `json:"content_id,omitempty" voice:"untrusted" jsonschema_description:"Content-ID without angle brackets, by which the HTML refers to the attachment."`
	Inline      bool   `json:"inline" jsonschema_description:"Whether the sender marked it to be shown within the message."`
	URL         string `json:"url" voice:"ours" jsonschema_description:"Signed link to the content. It expires."`
}

// Of returns the JSON form of a message. link returns a link to the object with a key, which
// serves it under the file name and with the content type. Of fails only if link fails. The
// caller sets Recipients.
func Of(m inbound.Message, link func(key, filename, contentType string) (string, error)) (Payload, error) {
	l := linker{link: link}
	p := Payload{
		SchemaVersion: inbound.SchemaVersion, MessageID: m.ID, ReceivedAt: m.ReceivedAt.UTC(), Sender: m.Sender,
		Recipients: []string{}, Verdicts: m.Verdicts, RawURL: l.to(m.RawKey, m.ID+".eml", "message/rfc822"),
		Message: Message{
			To: addresses(m.To), Cc: addresses(m.Cc), ReplyTo: addresses(m.ReplyTo), Subject: m.Subject,
			Date: m.Date, HeaderMessageID: m.HeaderID, InReplyTo: m.InReplyTo, References: append([]string{}, m.References...),
			Headers: make([]Header, 0, len(m.Headers)), Attachments: make([]Attachment, 0, len(m.Attachments)), Warnings: m.Warnings,
		},
	}
	if m.From != nil {
		p.Message.From = &Address{m.From.Address, m.From.Name}
	}
	for _, h := range m.Headers {
		p.Message.Headers = append(p.Message.Headers, Header{h.Name, h.Value})
	}
	p.Message.TextBody, p.Message.TextBodyURL = l.body(m.Text, m.TextKey, "body.txt", "text/plain; charset=utf-8")
	p.Message.HTMLBody, p.Message.HTMLBodyURL = l.body(m.HTML, m.HTMLKey, "body.html", "text/html; charset=utf-8")
	for _, f := range m.Attachments {
		p.Message.Attachments = append(p.Message.Attachments, Attachment{
			Filename: f.Filename, ContentType: f.ContentType, Size: f.Size, ContentID: f.ContentID, Inline: f.Inline,
			URL: l.to(f.Key, f.Filename, f.ContentType),
		})
	}
	return p, l.err
}

func addresses(all []inbound.Address) []Address {
	shown := make([]Address, 0, len(all))
	for _, a := range all {
		shown = append(shown, Address{a.Address, a.Name})
	}
	return shown
}

// linker makes links until one fails, and keeps the first error.
type linker struct {
	link func(key, filename, contentType string) (string, error)
	err  error
}

// to returns the link to an object, "" for no key and after an error.
func (l *linker) to(key, filename, contentType string) string {
	if key == "" || l.err != nil {
		return ""
	}
	url, err := l.link(key, filename, contentType)
	l.err = err
	return url
}

// body returns the body itself, or the link to the object that has it.
func (l *linker) body(inline, key, filename, contentType string) (*string, string) {
	if key != "" {
		return nil, l.to(key, filename, contentType)
	}
	return &inline, ""
}
