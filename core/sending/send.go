package sending

import "context"

// Sender hands messages to the account. A message that was handed over is out of
// our hands: what becomes of it is told by events.
type Sender interface {
	// Send hands over one message and returns the account's id of it. A failure of
	// kind TimedOut leaves open whether the account took it. A message that the
	// account will not send, because of its sender, its content or the state of the
	// account, fails with Rejected.
	Send(ctx context.Context, orgID string, m Message) (messageID string, err error)
	// SendBulk hands over one templated message to at most MaxBulk recipients, each
	// with its own data, and says for each what became of it, in their order. An
	// error means that nothing is known to have been handed over.
	SendBulk(ctx context.Context, orgID string, b Bulk) ([]BulkOutcome, error)
}

// MaxBulk is the most recipients of one SendBulk.
const MaxBulk = 50

// Envelope is what every message has, however its content is made.
type Envelope struct {
	From    string // an address, or a name with an address (RFC 5322 section 3.4)
	ReplyTo []string
	// ConfigurationSet is the channel; "" means the account's default.
	ConfigurationSet string
	// Tags come back with every event of the message.
	Tags map[string]string
	// Headers are added to the message, in order.
	Headers []Header
	// Test marks a message to try something out; its events say so.
	Test bool
}

// Header is one header field of a message.
type Header struct{ Name, Value string }

// Message is one message whose content is either given or rendered from a template
// of the account.
type Message struct {
	Envelope
	To, CC, BCC []string
	Content     Content
}

// Content is either Subject with Text and HTML, of which one may be "", or the
// name of a template of the account with its data, a JSON object.
type Content struct {
	Subject, Text, HTML string
	Template            string
	TemplateData        string
}

// Bulk is one template for many recipients.
type Bulk struct {
	Envelope
	Template string
	// DefaultData is a JSON object; a recipient's own data wins over it.
	DefaultData string
	Recipients  []BulkRecipient
}

// BulkRecipient is one message of a Bulk.
type BulkRecipient struct {
	To   string
	Data string // a JSON object, or ""
	Tags map[string]string
}

// BulkOutcome is what became of one recipient of a Bulk: either an id, or a failure.
type BulkOutcome struct {
	MessageID string
	Failure   *Failure
}
