package receiving

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// Store stores receiving domains and their addresses. Every method takes part in the
// transaction of its context. Methods that find one record fail with core.CodeNotFound if the
// organization does not have it.
type Store interface {
	// Domains returns the domains of an organization, oldest first.
	Domains(ctx context.Context, orgID string) ([]Domain, error)
	// Domain returns the domain with an id or a name. In a transaction it locks the domain.
	Domain(ctx context.Context, orgID, reference string) (Domain, error)
	// InsertDomain stores a new domain. It fails with core.CodeConflict if an organization has
	// recorded the name.
	InsertDomain(ctx context.Context, orgID string, d Domain) error
	// UpdateDomain stores the webhook of a domain, its secret, and what is to be published.
	UpdateDomain(ctx context.Context, orgID string, d Domain) error
	// DeleteDomain removes a domain with its addresses, its webhook and the content of its mail.
	// What is published of it stays until the publisher looks at it, at the time now.
	DeleteDomain(ctx context.Context, orgID, id string, now time.Time) error
	// DomainsToCheck returns domains of all organizations that are due for a check of their
	// records, those that wait longest first.
	DomainsToCheck(ctx context.Context, now time.Time, limit int) ([]OrgDomain, error)
	// SaveCheck stores the result of a check: Status, LastError, Records, CheckAt and what is to
	// be published. It changes nothing if the domain is verified or deleted.
	SaveCheck(ctx context.Context, orgID string, d Domain) error

	// Addresses returns the live addresses of a domain, oldest first.
	Addresses(ctx context.Context, orgID, domainID string) ([]Address, error)
	// CountAddresses returns the number of live addresses of a domain.
	CountAddresses(ctx context.Context, orgID, domainID string) (int, error)
	// InsertAddress stores a new address. It fails with core.CodeConflict if the local part is
	// live.
	InsertAddress(ctx context.Context, orgID, domainID string, a Address) error
	// DeleteAddress ends a live address, if there is one. It reports whether the address had
	// added an entry to the patterns of the webhook.
	DeleteAddress(ctx context.Context, orgID, domainID, localPart string, now time.Time) (bool, error)
}

// OrgDomain is a receiving domain with its organization.
type OrgDomain struct {
	OrgID  string
	Domain Domain
}

// LogStore reads the log of received mail.
type LogStore interface {
	// Messages returns messages, newest first.
	Messages(ctx context.Context, orgID string, f MessageFilter, after *core.After, limit int) ([]Message, error)
	// Message returns the message with an id, or else the first with this message_id, or a
	// NotFound error. Outcome and states are of the same instant.
	Message(ctx context.Context, orgID, id string) (MessageWithStates, error)
}

// Ending ends deliveries that can no longer be made.
type Ending interface {
	// EndDeliveries gives the messages of a domain that still wait for a delivery the outcome
	// delivery_failed, with the reason as the detail of that state.
	EndDeliveries(ctx context.Context, orgID, domainID, reason string, now time.Time) error
}

// MessageFilter selects messages of the log. Empty fields select all.
type MessageFilter struct {
	// From is the first instant, To the end, which is not part of the window.
	From, To *time.Time
	// Domain is the name of a receiving domain, in its stored form.
	Domain string
	// Recipient and Sender are addresses in the form of core.EmailKey.
	Recipient, Sender string
	Outcome           Outcome
}

// Outcome says how far a message at a receiving domain came.
type Outcome string

// The outcomes. Received and Retrying wait for a delivery; the others are final, except that a
// person can have a message sent again.
const (
	Received       Outcome = "received"
	Delivered      Outcome = "delivered"
	Retrying       Outcome = "retrying"
	DeliveryFailed Outcome = "delivery_failed"
	NoRoute        Outcome = "no_route"
	Dropped        Outcome = "dropped"
	UnknownDomain  Outcome = "unknown_domain"
)

// Message is the entry of a message in the log of a receiving domain: its envelope, its
// subject and its outcome.
type Message struct {
	ID         string           `json:"id" jsonschema:"format=uuid" jsonschema_description:"Id of the entry. It is the webhook-id of the deliveries."`
	MessageID  string           `json:"message_id" voice:"ours" jsonschema_description:"Id of the message. Entries of several domains have the same for one message."`
	Domain     string           `json:"domain" voice:"untrusted"`
	Sender     string           `json:"sender" voice:"untrusted" jsonschema_description:"Envelope sender (MAIL FROM), empty for the null sender of a bounce."`
	Recipients []string         `json:"recipients" voice:"untrusted" jsonschema_description:"Envelope recipients at this domain."`
	Subject    string           `json:"subject" voice:"untrusted"`
	Verdicts   inbound.Verdicts `json:"verdicts"`
	Outcome    Outcome          `json:"outcome" jsonschema:"enum=received,enum=delivered,enum=retrying,enum=delivery_failed,enum=no_route,enum=dropped,enum=unknown_domain"`
	Test       bool             `json:"test" jsonschema_description:"Whether a person sent it from the dashboard to test the webhook."`
	ReceivedAt time.Time        `json:"received_at"`
	UpdatedAt  time.Time        `json:"updated_at"`
	Size       int64            `json:"size" jsonschema_description:"Size in bytes."`

	DomainID string `json:"-"`
}

// State is a state that a message passed.
type State struct {
	State      Outcome   `json:"state" jsonschema:"enum=received,enum=delivered,enum=retrying,enum=delivery_failed,enum=no_route,enum=dropped,enum=unknown_domain"`
	OccurredAt time.Time `json:"occurred_at"`
	Detail     string    `json:"detail" voice:"untrusted" jsonschema_description:"The reason, or the beginning of what the endpoint answered."`
	HTTPStatus *int      `json:"http_status" jsonschema:"nullable" jsonschema_description:"Status of the endpoint's answer; null without an answer."`
}
