package inbound

import "time"

// SchemaVersion is the version of the JSON form of messages.
const SchemaVersion = 1

// MaxInline is the largest body in bytes that the JSON form contains. Larger bodies are
// objects of their own.
const MaxInline = 256 << 10

// Message is a received message after it was judged, parsed and stored. It is stored as JSON.
// The links to its objects are made when it is read, because they expire.
type Message struct {
	ID         string    `json:"id"`
	Sender     string    `json:"sender"`
	ReceivedAt time.Time `json:"received_at"`
	Size       int64     `json:"size"`
	Verdicts   Verdicts  `json:"verdicts"`
	// StoreID names the object store that has the message; "" is the store of the server.
	StoreID string `json:"store_id,omitempty"`
	// RawKey is the key of the message as it was received.
	RawKey      string    `json:"raw_key"`
	From        *Address  `json:"from,omitempty"`
	To          []Address `json:"to,omitempty"`
	Cc          []Address `json:"cc,omitempty"`
	ReplyTo     []Address `json:"reply_to,omitempty"`
	Subject     string    `json:"subject"`
	Date        string    `json:"date,omitempty"`
	HeaderID    string    `json:"header_message_id,omitempty"`
	InReplyTo   string    `json:"in_reply_to,omitempty"`
	References  []string  `json:"references,omitempty"`
	Headers     []Header  `json:"headers,omitempty"`
	Text        string    `json:"text,omitempty"`
	TextKey     string    `json:"text_key,omitempty"`
	HTML        string    `json:"html,omitempty"`
	HTMLKey     string    `json:"html_key,omitempty"`
	Attachments []File    `json:"attachments,omitempty"`
	// Warnings says what could not be read of a malformed message.
	Warnings []string `json:"warnings,omitempty"`
	// Extracted is set for a message to an inbox, which stores it beside the message.
	Extracted Extracted `json:"-"`
}

// Extracted has what a person or a test would copy from a message.
type Extracted struct {
	Codes []string `json:"codes" voice:"untrusted" jsonschema_description:"One-time codes in the text, most likely first."`
	Links []Link   `json:"links" jsonschema_description:"Links in the text, most likely first."`
}

// Link is a link in a message.
type Link struct {
	URL string `json:"url" voice:"untrusted"`
	// Kind is what the link is for.
	Kind string `json:"kind" voice:"ours" jsonschema_description:"What the link is for, such as confirm, sign_in, reset, unsubscribe or other."`
}

// Address is an address of a header, with its display name.
type Address struct {
	Address string `json:"address"`
	Name    string `json:"name"`
}

// Header is a field of the header, with its value decoded.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// File is an attachment. Key is the key of its object.
type File struct {
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	ContentID   string `json:"content_id,omitempty"`
	Inline      bool   `json:"inline,omitempty"`
	Size        int64  `json:"size"`
	Key         string `json:"key"`
}

// Keys returns the keys of all objects of the message.
func (m Message) Keys() []string {
	var keys []string
	for _, key := range []string{m.RawKey, m.TextKey, m.HTMLKey} {
		if key != "" {
			keys = append(keys, key)
		}
	}
	for _, file := range m.Attachments {
		keys = append(keys, file.Key)
	}
	return keys
}
