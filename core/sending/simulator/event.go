package simulator

import (
	"bytes"
	"encoding/json"
	"maps"
	"time"
)

// event is an event record of SES, with its JSON members in the order of SES.
type event struct {
	EventType     string              `json:"eventType"`
	Send          *struct{}           `json:"send,omitempty"`
	Delivery      *deliveryDetail     `json:"delivery,omitempty"`
	Bounce        *bounceDetail       `json:"bounce,omitempty"`
	Complaint     *complaintDetail    `json:"complaint,omitempty"`
	Reject        *rejectDetail       `json:"reject,omitempty"`
	Open          *openDetail         `json:"open,omitempty"`
	Click         *clickDetail        `json:"click,omitempty"`
	Failure       *failureDetail      `json:"failure,omitempty"`
	DeliveryDelay *delayDetail        `json:"deliveryDelay,omitempty"`
	Subscription  *subscriptionDetail `json:"subscription,omitempty"`
	Mail          mailObject          `json:"mail"`
}

type mailObject struct {
	Timestamp        string              `json:"timestamp"`
	Source           string              `json:"source"`
	SourceArn        string              `json:"sourceArn"`
	SendingAccountID string              `json:"sendingAccountId"`
	MessageID        string              `json:"messageId"`
	Destination      []string            `json:"destination"`
	HeadersTruncated bool                `json:"headersTruncated"`
	Headers          []headerField       `json:"headers,omitempty"`
	CommonHeaders    *headerSummary      `json:"commonHeaders,omitempty"`
	Tags             map[string][]string `json:"tags"`
}

type headerField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type headerSummary struct {
	From      []string `json:"from"`
	ReplyTo   []string `json:"replyTo,omitempty"`
	To        []string `json:"to,omitempty"`
	CC        []string `json:"cc,omitempty"`
	MessageID string   `json:"messageId"`
	Subject   string   `json:"subject"`
}

type recipientDetail struct {
	EmailAddress   string `json:"emailAddress"`
	Action         string `json:"action,omitempty"`
	Status         string `json:"status,omitempty"`
	DiagnosticCode string `json:"diagnosticCode,omitempty"`
}

type deliveryDetail struct {
	Timestamp            string   `json:"timestamp"`
	ProcessingTimeMillis int64    `json:"processingTimeMillis"`
	Recipients           []string `json:"recipients"`
	SMTPResponse         string   `json:"smtpResponse"`
	ReportingMTA         string   `json:"reportingMTA"`
}

type bounceDetail struct {
	BounceType        string            `json:"bounceType"`
	BounceSubType     string            `json:"bounceSubType"`
	BouncedRecipients []recipientDetail `json:"bouncedRecipients"`
	Timestamp         string            `json:"timestamp"`
	FeedbackID        string            `json:"feedbackId"`
	ReportingMTA      string            `json:"reportingMTA,omitempty"`
}

type complaintDetail struct {
	FeedbackID           string            `json:"feedbackId"`
	ComplaintSubType     *string           `json:"complaintSubType"` // null if a recipient complained
	ComplainedRecipients []recipientDetail `json:"complainedRecipients"`
	Timestamp            string            `json:"timestamp"`
	// UserAgent, ComplaintFeedbackType and ArrivalDate come from the feedback report of the
	// recipient's mailbox provider, if there is one.
	UserAgent             string `json:"userAgent,omitempty"`
	ComplaintFeedbackType string `json:"complaintFeedbackType,omitempty"`
	ArrivalDate           string `json:"arrivalDate,omitempty"`
}

type rejectDetail struct {
	Reason string `json:"reason"`
}

type openDetail struct {
	IPAddress string `json:"ipAddress"`
	Timestamp string `json:"timestamp"`
	UserAgent string `json:"userAgent"`
}

type clickDetail struct {
	IPAddress string              `json:"ipAddress"`
	Timestamp string              `json:"timestamp"`
	UserAgent string              `json:"userAgent"`
	Link      string              `json:"link"`
	LinkTags  map[string][]string `json:"linkTags"`
}

type failureDetail struct {
	ErrorMessage string `json:"errorMessage"`
	TemplateName string `json:"templateName"`
}

type delayDetail struct {
	DelayType         string            `json:"delayType"`
	DelayedRecipients []recipientDetail `json:"delayedRecipients"`
	ExpirationTime    string            `json:"expirationTime"`
	Timestamp         string            `json:"timestamp"`
}

type subscriptionDetail struct {
	ContactList         string           `json:"contactList"`
	Timestamp           string           `json:"timestamp"`
	Source              string           `json:"source"`
	NewTopicPreferences topicPreferences `json:"newTopicPreferences"`
	OldTopicPreferences topicPreferences `json:"oldTopicPreferences"`
}

type topicPreferences struct {
	UnsubscribeAll          bool          `json:"unsubscribeAll"`
	TopicSubscriptionStatus []topicStatus `json:"topicSubscriptionStatus"`
}

type topicStatus struct {
	TopicName          string `json:"topicName"`
	SubscriptionStatus string `json:"subscriptionStatus"`
}

// mailFor returns the member "mail" of an event record, adapted to the type of the event e.
// For a delay or a failed rendering it omits the headers. For a delivery it adds a tag with
// the sending IP address.
func (m mailObject) mailFor(e event) mailObject {
	switch {
	case e.DeliveryDelay != nil, e.Failure != nil:
		m.Headers, m.CommonHeaders = nil, nil
	case e.Delivery != nil:
		m.Tags = maps.Clone(m.Tags)
		m.Tags["ses:outgoing-ip"] = []string{outgoing}
	}
	return m
}

// encode returns the event record as JSON. Equal events give equal bytes: maps are sorted
// by key, and invalid UTF-8 becomes U+FFFD.
func (e event) encode() (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(e)
	return string(bytes.TrimRight(b.Bytes(), "\n")), err
}

// stamp returns t in the time format of event records, in UTC with milliseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
