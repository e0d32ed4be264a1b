// Package sending is the port to a customer's own email-sending account. It defines the
// calls that Mailhelm makes to an account. The packages below it are the adapters;
// simulator is the embedded default.
//
// Every call has its own deadline and fails with a *[Failure]. No call returns text of
// the provider that could reach an API caller.
//
// The account is the source of truth for consent (topic preferences and the global
// opt-out) and for what it can send. Attributes, external ids, static lists and
// archiving exist only in Mailhelm.
package sending

import (
	"context"
	"time"
)

// Account is one organization's sending account. Implementations are safe for
// concurrent use.
type Account interface {
	// Overview returns quota and state.
	Overview(ctx context.Context, orgID string) (Overview, error)
	// Identities returns the domains and addresses that the account may send from.
	Identities(ctx context.Context, orgID string) ([]Identity, error)
	// ConfigurationSets returns the account's configuration sets. Mailhelm calls them
	// channels.
	ConfigurationSets(ctx context.Context, orgID string) ([]ConfigurationSet, error)

	// ContactList returns the account's only contact list with its topics. It fails
	// with NotFound when the account has none.
	ContactList(ctx context.Context, orgID string) (ContactList, error)
	// EnsureContactList creates a contact list without topics when the account has
	// none. It may be repeated and called concurrently: an existing list stays as it
	// is. It fails with Unsupported when the account does not allow Mailhelm to create
	// one.
	EnsureContactList(ctx context.Context, orgID string) error
	// ChangeTopics replaces the list's topics by the result of change. It fails with
	// NotFound without a list, with Invalid for a topic that the account rejects, and
	// with Full for too many topics.
	ChangeTopics(ctx context.Context, orgID string, change TopicsChange) error
	// Contact returns one contact's consent. It fails with NotFound when the address is
	// not on the list. Addresses are matched without regard to case.
	Contact(ctx context.Context, orgID, email string) (Contact, error)
	// Contacts returns a page of at most 1,000 contacts, in the account's own order.
	// token is "" for the first page; next is "" after the last page.
	Contacts(ctx context.Context, orgID, token string) (page []Contact, next string, err error)
	// PutContact creates the contact or replaces its consent. It may be repeated.
	PutContact(ctx context.Context, orgID string, c Contact) error
	// PutContacts does what PutContact does, for at most MaxContacts contacts with
	// different addresses. It returns one outcome for each contact, in the same order;
	// nil is success. On an error, no contact is known to be stored.
	PutContacts(ctx context.Context, orgID string, contacts []Contact) ([]*Failure, error)
	// DeleteContact removes an address from the list. It succeeds when the address is
	// not on the list.
	DeleteContact(ctx context.Context, orgID, email string) error

	Suppressions
	Templates
	Sender
	ProductionAccess
}

// Overview is the account's state.
type Overview struct {
	AccountID       string
	Region          string
	Sandbox         bool
	SendingEnabled  bool
	Max24HourSend   int64
	MaxSendRate     int64
	SentLast24Hours int64
	// Review is the state of the latest request for production access.
	Review Review
}

// VerificationStatus is the state of an identity's verification.
type VerificationStatus string

// The verification states.
const (
	Pending VerificationStatus = "pending"
	Success VerificationStatus = "success"
	Failed  VerificationStatus = "failed"
)

// Identity is a domain or an address that the account may send from.
type Identity struct {
	Identity     string
	Verification VerificationStatus
	// DKIMTokens prove the ownership of a domain. The owner publishes one CNAME record
	// <token>._domainkey.<domain> for each token. They are empty for an address and
	// for a provider without them. The content of a simulated account may omit them.
	DKIMTokens []string
	// ConfigurationSet is the identity's default configuration set, used when a message
	// names none; "" without a default.
	ConfigurationSet string
}

// ConfigurationSet is a named set of sending rules, one for each channel.
type ConfigurationSet struct {
	Name              string
	TrackingDomain    string   // "" when unset
	SuppressionPolicy []string // of BOUNCE, COMPLAINT
}

// Subscription is a contact's choice about a topic, or a topic's default.
type Subscription string

// The two choices.
const (
	OptIn  Subscription = "OPT_IN"
	OptOut Subscription = "OPT_OUT"
)

// DefaultContactList is the name of a contact list that EnsureContactList makes.
const DefaultContactList = "contacts"

// ContactList is the account's list of contacts, with the topics that they can
// subscribe to.
type ContactList struct {
	Name        string
	Description string
	Topics      []Topic
	UpdatedAt   time.Time
}

// Topic is a subject that contacts subscribe to.
type Topic struct {
	Name        string
	DisplayName string
	Description string
	Default     Subscription
}

// TopicsChange computes the new topics from the current ones. It must not modify its
// argument, block, or use any other state, because callers may hold a lock.
//
// It may be called again: on topics that another writer changed, and on its own result.
// Removing a topic deletes the contacts' choices for it. Returning equal topics changes
// nothing; the order of topics is up to the account. On an error nothing is changed,
// and the call returns that error.
type TopicsChange func(topics []Topic) ([]Topic, error)

// Contact is a contact as the account has it: the address and the consent.
type Contact struct {
	Email          string
	UnsubscribeAll bool
	// Preferences has the explicit choices only, by topic name.
	Preferences map[string]Subscription
	UpdatedAt   time.Time
}
