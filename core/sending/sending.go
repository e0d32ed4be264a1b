// Package sending is the port to a customer's own email-sending account. It says
// in the domain's words what Mailhelm asks of an account; adapters below it
// answer: simulator is the embedded default.
//
// Every call has a deadline of its own, fails with a *[Failure], and returns no
// text of the provider's that could reach a caller. The account is the truth
// about consent (topic preferences and the global opt-out) and about what it can
// send; attributes, external ids, static lists and archiving are ours alone.
package sending

import (
	"context"
	"time"
)

// Account is one organization's sending account. Implementations are safe for
// concurrent use.
type Account interface {
	// Overview reads quota and state.
	Overview(ctx context.Context, orgID string) (Overview, error)
	// Identities lists what may be sent from.
	Identities(ctx context.Context, orgID string) ([]Identity, error)
	// ConfigurationSets lists the account's configuration sets: our channels.
	ConfigurationSets(ctx context.Context, orgID string) ([]ConfigurationSet, error)

	// ContactList reads the account's only contact list with its topics. It
	// fails with NotFound when the account has none.
	ContactList(ctx context.Context, orgID string) (ContactList, error)
	// EnsureContactList makes a contact list without topics when the account has none.
	// It may be repeated, and several may call it at once: a list that the account has,
	// or that another call makes first, stays as it is. It fails with Unsupported when
	// the account does not let us make one.
	EnsureContactList(ctx context.Context, orgID string) error
	// ChangeTopics makes of the list's topics what change makes of them. NotFound
	// without a list, Invalid for a topic that the account does not take, Full for
	// more of them than it holds.
	ChangeTopics(ctx context.Context, orgID string, change TopicsChange) error
	// Contact reads one contact's consent; NotFound when the address is not on
	// the list. Addresses are matched without regard to case.
	Contact(ctx context.Context, orgID, email string) (Contact, error)
	// Contacts reads a page of at most 1,000 contacts, in the account's own
	// order. token is "" for the first page; next is "" after the last.
	Contacts(ctx context.Context, orgID, token string) (page []Contact, next string, err error)
	// PutContact creates the contact or replaces its consent. Applying the same
	// value twice changes nothing.
	PutContact(ctx context.Context, orgID string, c Contact) error
	// PutContacts does for at most MaxContacts contacts what PutContact does for one,
	// and returns what became of each, in their order: nil for one that holds. No two
	// have the same address. An error means that it holds for none, or that this is
	// unknown.
	PutContacts(ctx context.Context, orgID string, contacts []Contact) ([]*Failure, error)
	// DeleteContact takes an address off the list. One that is not there is no failure.
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
	// Review is what became of the latest request for production access.
	Review Review
}

// VerificationStatus is how far an identity's verification is.
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
	// DKIMTokens are what a domain publishes to prove itself: for each token one
	// CNAME record <token>._domainkey.<domain>. They are empty for an address and
	// where the provider has none; Seed and the like need not give them.
	DKIMTokens []string
	// ConfigurationSet is the name of the one that the identity's mail goes through
	// when a message names none; "" when there is no such default.
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

// ContactList is the account's list of contacts with the topics people choose from.
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

// TopicsChange returns what the topics are to be instead of those that there are,
// which it leaves alone; their order is the account's affair. A topic that is no
// longer there takes with it what contacts chose about it. Topics that come out as
// they were change nothing. When it fails, nothing is done and its error is that of
// the call.
//
// It decides from the topics alone, at once: others may wait for it. It may be
// called again on what others made of the topics, and on what it made of them
// itself.
type TopicsChange func(topics []Topic) ([]Topic, error)

// Contact is what the account knows of a person: the address and the consent.
type Contact struct {
	Email          string
	UnsubscribeAll bool
	// Preferences holds explicit choices only, by topic name.
	Preferences map[string]Subscription
	UpdatedAt   time.Time
}
