// Package sending defines the interface through which Mailhelm calls a customer's own
// email-sending account. The packages in its subdirectories implement the interface;
// simulator is the embedded default.
//
// Every call has its own deadline and fails with a *[Failure]. API callers never see error
// texts of the provider.
//
// The account is the source of truth for consent (topic preferences and the global opt-out)
// and for what it can send. Attributes, external ids, static lists and archiving exist only
// in Mailhelm.
package sending

import (
	"context"
	"time"
)

// Account is the interface of a sending account. One implementation may serve one
// organization, or many, which it distinguishes by the organization id in each call.
// Implementations are safe for concurrent use.
type Account interface {
	// Overview returns quota and state.
	Overview(ctx context.Context, orgID string) (Overview, error)
	// Identities returns the domains and addresses that the account may send from.
	Identities(ctx context.Context, orgID string) ([]Identity, error)
	// ConfigurationSets returns the account's configuration sets. Mailhelm calls them
	// channels.
	ConfigurationSets(ctx context.Context, orgID string) ([]ConfigurationSet, error)

	// ContactList returns the account's only contact list with its topics. It fails with
	// NotFound if the account has no list.
	ContactList(ctx context.Context, orgID string) (ContactList, error)
	// EnsureContactList creates a contact list without topics if the account has no list. It
	// does not change an existing list, so it may be repeated and called concurrently. It
	// fails with Unsupported if the account does not allow Mailhelm to create a list.
	EnsureContactList(ctx context.Context, orgID string) error
	// ChangeTopics replaces the topics of the contact list by the result of change. It fails
	// with NotFound if there is no list, with Invalid if the account rejects a topic, and
	// with Full if there are too many topics.
	ChangeTopics(ctx context.Context, orgID string, change TopicsChange) error
	// Contact returns the consent of the contact with this address, ignoring case. It fails
	// with NotFound if the contact list does not have the address.
	Contact(ctx context.Context, orgID, email string) (Contact, error)
	// Contacts returns a page of at most 1,000 contacts, in the account's own order. token
	// is "" for the first page and the previous result next for others. next is "" after the
	// last page.
	Contacts(ctx context.Context, orgID, token string) (page []Contact, next string, err error)
	// PutContact creates the contact or replaces its consent. A repeated call has no further
	// effect.
	PutContact(ctx context.Context, orgID string, c Contact) error
	// PutContacts creates the contacts or replaces their consent, for at most MaxContacts
	// contacts with different addresses. It returns one outcome for each contact, in the
	// same order; nil is success. After an error it is unknown which contacts were stored.
	PutContacts(ctx context.Context, orgID string, contacts []Contact) ([]*Failure, error)
	// DeleteContact removes an address from the contact list. It succeeds if the list does
	// not have the address.
	DeleteContact(ctx context.Context, orgID, email string) error

	Eraser
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
	// Review is the state of the account's latest request for production access.
	Review Review
}

// VerificationStatus says whether the provider has verified that the customer owns an
// identity.
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
	// <token>._domainkey.<domain> for each token. There are none for an address, for some
	// providers, and possibly for simulated accounts.
	DKIMTokens []string
	// ConfigurationSet is the configuration set that applies to messages from this identity
	// that do not name one; "" if the identity has no default.
	ConfigurationSet string
}

// ConfigurationSet is a named set of the provider's rules for sending messages. Mailhelm
// calls it a channel.
type ConfigurationSet struct {
	Name              string
	TrackingDomain    string   // "" when unset
	SuppressionPolicy []string // of BOUNCE, COMPLAINT
}

// Subscription is a contact's choice to receive or not to receive a topic, or the topic's
// default choice.
type Subscription string

// The two choices.
const (
	OptIn  Subscription = "OPT_IN"
	OptOut Subscription = "OPT_OUT"
)

// DefaultContactList is the name of the contact list that EnsureContactList creates.
const DefaultContactList = "contacts"

// ContactList is the account's contact list: its name and description, and the topics that
// contacts can subscribe to.
type ContactList struct {
	Name        string
	Description string
	Topics      []Topic
	UpdatedAt   time.Time
}

// Topic is a kind of mail, such as a newsletter, that contacts subscribe to.
type Topic struct {
	Name        string
	DisplayName string
	Description string
	Default     Subscription
}

// TopicsChange computes the new topics from the current ones. It must not modify its
// argument, block, or use any other state, because callers may hold a lock.
//
// Callers may call it again, on topics that another writer changed or on its own result.
// Removing a topic deletes the contacts' choices for it. Returning equal topics changes
// nothing; the account decides the order of topics. If it returns an error, nothing is
// changed and ChangeTopics returns that error.
type TopicsChange func(topics []Topic) ([]Topic, error)

// Contact is a contact as the account stores it: the address and the consent.
type Contact struct {
	Email          string
	UnsubscribeAll bool
	// Preferences has the topics for which the contact made an explicit choice, by topic
	// name. Other topics have their default.
	Preferences map[string]Subscription
	UpdatedAt   time.Time
}
