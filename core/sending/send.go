package sending

import "context"

// Sender sends messages through the account. The outcome of delivery arrives later as
// events.
type Sender interface {
	// Send hands over one message and returns the account's message id. It fails with
	// TimedOut when the account may or may not have accepted the message. It fails with
	// Rejected when the sender, the content or the state of the account prevents
	// sending.
	Send(ctx context.Context, orgID string, m Message) (messageID string, err error)
	// SendBulk hands over one templated message to at most MaxBulk recipients, each
	// with its own data. It returns one outcome for each recipient, in the same order.
	// On an error, no recipient is known to be accepted.
	SendBulk(ctx context.Context, orgID string, b Bulk) ([]BulkOutcome, error)
}

// MaxBulk is the maximum number of recipients in one SendBulk.
const MaxBulk = 50

// Envelope has the fields that every message has, whether its content is given or
// rendered.
type Envelope struct {
	From    string // an address, or a name with an address (RFC 5322 section 3.4)
	ReplyTo []string
	// ConfigurationSet is the channel; "" means the account's default.
	ConfigurationSet string
	// Tags are returned with every event of the message.
	Tags map[string]string
	// Headers are added to the message, in order.
	Headers []Header
	// Test marks a test message. Its events have the same mark.
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

// Content is either Subject with Text and HTML, or the name of a template with its
// data. One of Text and HTML may be "". Data is a JSON object.
type Content struct {
	Subject, Text, HTML string
	Template            string
	TemplateData        string
}

// Bulk is one template for many recipients.
type Bulk struct {
	Envelope
	Template string
	// DefaultData is a JSON object. Members of a recipient's own data override it.
	DefaultData string
	Recipients  []BulkRecipient
}

// BulkRecipient is one message of a Bulk.
type BulkRecipient struct {
	To   string
	Data string // a JSON object, or ""
	Tags map[string]string
}

// BulkOutcome is the result for one recipient of a Bulk: a message id or a failure.
type BulkOutcome struct {
	MessageID string
	Failure   *Failure
}
