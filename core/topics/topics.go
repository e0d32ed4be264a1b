package topics

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config configures the topics. All fields are required unless their comments say what nil
// means.
type Config struct {
	Store      Store
	Transactor core.Transactor
	Account    sending.Account
	// Live reads the account's topics. All users in the process must share one.
	Live *Live
	// Locks serializes the writers of one organization's topics. It is shared with the
	// writers of contacts.
	Locks *sending.KeyedLocks
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
	// Turned are names of topics with a new default. The default applies to every contact
	// without an explicit choice.
	Turned []string
}

// Topics has the operations on topics and on the account's contact list.
type Topics struct {
	Config
}

// New returns Topics with the configuration.
func New(cfg Config) *Topics { return &Topics{cfg} }

// Operations returns the operations, in the order of the catalogue.
func (t *Topics) Operations() []core.Operation {
	return []core.Operation{
		t.contactListGet(),
		t.topicsList(),
		t.topicsCreate(),
		t.topicsUpdate(),
		t.topicsDelete(),
	}
}
