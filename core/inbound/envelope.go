package inbound

import (
	"net/netip"
	"time"
)

// Envelope is what is known of a message apart from its content.
type Envelope struct {
	// ID is minted by the receiver. It is the message_id of the API, and a repeated processing
	// finds by it what was stored before.
	ID string `json:"id"`
	// Sender is the envelope sender (MAIL FROM), "" for the null sender of RFC 5321 section
	// 4.5.5.
	Sender string `json:"sender"`
	// Routes has one route for each accepted recipient, in the order of the RCPT commands. All
	// belong to one organization.
	Routes []Route `json:"routes"`
	// RemoteIP, Helo and TLS describe the SMTP client. RemoteIP is invalid if the message did
	// not come by our SMTP server.
	RemoteIP netip.Addr `json:"remote_ip,omitzero"`
	Helo     string     `json:"helo"`
	TLS      bool       `json:"tls"`
	// Judged has the verdicts of the provider that received the message, nil for a message that
	// came by our SMTP server.
	Judged     *Verdicts `json:"judged,omitempty"`
	ReceivedAt time.Time `json:"received_at"`
	// Size is the number of bytes of the message.
	Size int64 `json:"size"`
}

// Kind says where mail to an address goes.
type Kind string

// The kinds of routes.
const (
	// ToInbox is a temporary inbox.
	ToInbox Kind = "inbox"
	// ToDomain is a receiving domain.
	ToDomain Kind = "domain"
	// ToDeletedDomain is a receiving domain that was deleted lately. Its mail is logged as
	// unknown_domain.
	ToDeletedDomain Kind = "deleted_domain"
	// ToReports is the address for DMARC reports about a domain.
	ToReports Kind = "reports"
)

// Route is where mail to a recipient goes.
type Route struct {
	Kind  Kind   `json:"kind"`
	OrgID string `json:"org_id"`
	// TargetID is the id of the inbox, of the receiving domain, or of the domain that reports are
	// about.
	TargetID string `json:"target_id"`
	// Recipient is the address of the envelope as the client wrote it. LocalPart and Domain are
	// its parts in lower case, the domain with A-labels.
	Recipient string `json:"recipient"`
	LocalPart string `json:"local_part"`
	Domain    string `json:"domain"`
}

// Refusal says why no mail to an address is accepted.
type Refusal int

// The refusals.
const (
	// Accepted means that the address has a route.
	Accepted Refusal = iota
	// NoSuchInbox means that the address is at the domain of temporary inboxes and was never
	// minted: SMTP 550 5.1.1.
	NoSuchInbox
	// NotOurs means that the domain of the address receives no mail here: SMTP 550 5.7.1.
	NotOurs
)
