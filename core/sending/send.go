package sending

import "context"

// Sender sends messages through an organization's account. Events about the delivery arrive
// later.
type Sender interface {
	// Send passes one message to the account and returns the account's message id. It fails
	// with TimedOut if it is unknown whether the account accepted the message. It fails with
	// Rejected if the sender, the content or the state of the account prevents sending.
	Send(ctx context.Context, orgID string, m Message) (messageID string, err error)
	// SendBulk passes one templated message to the account, for at most MaxBulk recipients
	// with their own data. It returns one outcome for each recipient, in the same order. It
	// fails with TimedOut if it is unknown which recipients the account accepted. After any
	// other failure it accepted none.
	SendBulk(ctx context.Context, orgID string, b Bulk) ([]BulkOutcome, error)
}

// MaxBulk is the maximum number of recipients in one call of SendBulk.
const MaxBulk = 50

// Envelope has the fields of a message apart from its recipients and its content.
type Envelope struct {
	From    string // an address, with or without a display name (RFC 5322 section 3.4)
	ReplyTo []string
	// ConfigurationSet is the name of the configuration set to send with, which Mailhelm
	// calls a channel; "" means the account's default.
	ConfigurationSet string
	// Tags are names and values that the account adds to every event of the message.
	Tags map[string]string
	// Headers are further header fields that are added to the message, in this order.
	Headers []Header
	// Test marks a test message. The events of the message are marked as tests too.
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

// Content is either Subject with Text and HTML, or the name of a template at the account
// with its data. Text or HTML may be "". TemplateData is a JSON object.
type Content struct {
	Subject, Text, HTML string
	Template            string
	TemplateData        string
}

// Bulk is a message that the account renders from one template for many recipients.
type Bulk struct {
	Envelope
	// Template is the name of a template at the account, "" for Inline.
	Template string
	Inline   InlineTemplate
	// DefaultData is a JSON object with template data for all recipients. A member of a
	// recipient's own data overrides the member with the same name here.
	DefaultData string
	Recipients  []BulkRecipient
}

// InlineTemplate is a template that is part of the call. The account replaces each variable
// {{name}} by its value without escaping it. Text or HTML may be "".
type InlineTemplate struct{ Subject, Text, HTML string }

// BulkRecipient is a recipient of a Bulk, with the template data of its message.
type BulkRecipient struct {
	To   string
	Data string // a JSON object, or ""
	Tags map[string]string
	// Headers are added to those of the Envelope, and replace those with the same name.
	Headers []Header
}

// BulkOutcome is the result for one recipient of a Bulk: the id of the message, or the
// failure if it was not accepted.
type BulkOutcome struct {
	MessageID string
	Failure   *Failure
}
