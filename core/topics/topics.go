package topics

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config holds what the topics need. All fields are required unless they say what nil
// means.
type Config struct {
	Store      Store
	Transactor core.Transactor
	Account    sending.Account
	// Live reads the account's topics. Everything in the process shares one.
	Live *Live
	// Turns serializes the writers of one organization's topics. It is shared with the
	// writers of contacts.
	Turns *sending.KeyedLocks
	// Contacts counts contacts, for contact_list_get.
	Contacts ContactCounter
	Clock    core.Clock

	// OnRedefine is called before topics are deleted or get another default, in the
	// transaction of the change. nil means that nothing depends on topics.
	OnRedefine func(ctx context.Context, orgID string, what Redefinition) error
}

// ContactCounter counts the contacts of an organization.
type ContactCounter interface {
	// CountContacts counts the active contacts, without stubs.
	CountContacts(ctx context.Context, orgID string) (int, error)
}

// Redefinition names the topics whose change affects predicates.
type Redefinition struct {
	// Gone are names of topics that are deleted.
	Gone []string
	// Turned are names of topics that get another default. The default decides for every
	// contact without an explicit choice.
	Turned []string
}

// Topics does the tasks on topics and on the contact list that holds them.
type Topics struct {
	Config
}

// New returns Topics with the configuration.
func New(cfg Config) *Topics { return &Topics{cfg} }

// Operations returns the tasks, in the order of the catalogue.
func (t *Topics) Operations() []core.Operation {
	return []core.Operation{
		t.contactListGet(),
		t.topicsList(),
		t.topicsCreate(),
		t.topicsUpdate(),
		t.topicsDelete(),
	}
}
