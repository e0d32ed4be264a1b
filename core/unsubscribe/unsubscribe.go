package unsubscribe

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/topics"
)

// Config has the dependencies of [Unsubscribe]. A field may be nil only if its comment says
// what nil means; all others are required.
type Config struct {
	Links    *Links
	Contacts ContactReader
	// Choices records the choices of recipients; it is *contacts.Contacts in the product.
	Choices    ChoiceRecorder
	Topics     TopicReader
	Orgs       OrgReader
	Transactor core.Transactor
	// Languages has the language of each organization. nil means English for all.
	Languages LanguageReader
	// Addresses finds the recipient of a mail whose contact was deleted since, because
	// another contact got its address. nil means that such recipients are not found.
	Addresses AddressReader
	Clock     core.Clock

	// OnUnsubscribe is called in the transaction of a change, once for each topic from which
	// a subscribed recipient unsubscribes, or once for all mail. An error undoes the change.
	// nil means that changes are not reported.
	OnUnsubscribe func(ctx context.Context, orgID string, u Unsubscription) error
}

// ContactReader reads contacts.
type ContactReader interface {
	// ContactByID returns a contact, archived or not, with the consent in the database. It
	// fails with core.CodeNotFound if there is none.
	ContactByID(ctx context.Context, orgID, id string) (contacts.Contact, error)
	// ContactByEmail is the same for an address.
	ContactByEmail(ctx context.Context, orgID, email string) (contacts.Contact, error)
}

// AddressReader reads to which addresses mail was sent.
type AddressReader interface {
	// RecipientAddress returns the address to which the mail of a send to a contact was sent.
	// It fails with core.CodeNotFound if the send has no such recipient.
	RecipientAddress(ctx context.Context, orgID, sendID, contactID string) (string, error)
}

// ChoiceRecorder writes the choice of a recipient to the sending account and the database.
type ChoiceRecorder interface {
	// RecordChoice has the contract of the method of [contacts.Contacts].
	RecordChoice(ctx context.Context, tx core.Transactor, orgID string, r contacts.RecipientChoice) (contacts.Contact, error)
}

// TopicReader reads the topics of an organization.
type TopicReader interface {
	// Topics returns the topics that the database has, sorted by name.
	Topics(ctx context.Context, orgID string) ([]topics.Topic, error)
}

// OrgReader reads organizations.
type OrgReader interface {
	// Org returns the organization with the id. It fails with core.CodeNotFound if there is
	// none.
	Org(ctx context.Context, orgID string) (core.Org, error)
}

// LanguageReader reads the language in which an organization writes to its contacts.
type LanguageReader interface {
	// Language returns a language tag such as "de", or "" if the organization chose none.
	Language(ctx context.Context, orgID string) (string, error)
}

// Unsubscription is the event that a recipient unsubscribed.
type Unsubscription struct {
	ContactID string
	Email     string
	// Topic is the name of the topic, "" for all mail.
	Topic string
	// SendID identifies what sent the mail whose link was used; "" if the link has none.
	SendID string
	At     time.Time
}

// Unsubscribe reads and records the choices of recipients who open a link.
type Unsubscribe struct {
	Config
}

// New returns an Unsubscribe.
func New(cfg Config) *Unsubscribe { return &Unsubscribe{cfg} }
