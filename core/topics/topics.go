package topics

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config configures [Topics]. A field may be nil only if its comment says what nil means;
// all others are required.
type Config struct {
	Store      Store
	Transactor core.Transactor
	Account    sending.Account
	// Live reads and caches the account's topics. The process must have only one Live.
	Live *Live
	// Locks has the locks for writes of an organization's topics and of contacts'
	// addresses. Packages that write contacts must use the same Locks, because a sync also
	// writes contacts to the account.
	Locks *sending.KeyedLocks
	// Contacts counts contacts, for contact_list_get.
	Contacts ContactCounter
	Clock    core.Clock

	// OnRedefine is called before topics are deleted or get another default subscription, in
	// the transaction of the change. nil means that nothing depends on topics.
	OnRedefine func(ctx context.Context, orgID string, what Redefinition) error
}

// ContactCounter counts the contacts of an organization.
type ContactCounter interface {
	// CountContacts returns the number of active contacts, without those that are only known
	// from activities.
	CountContacts(ctx context.Context, orgID string) (int, error)
}

// Redefinition names the topics that were deleted, or whose default subscription changed.
// Such changes affect the predicates of segments.
type Redefinition struct {
	// Gone has the names of deleted topics.
	Gone []string
	// Turned has the names of topics with a new default subscription. The default applies to
	// every contact without an explicit choice about the topic.
	Turned []string
}

// Topics has the operations on topics and on the account's contact list.
type Topics struct {
	Config
}

// New returns Topics that use the configuration.
func New(cfg Config) *Topics { return &Topics{cfg} }

// Operations returns the operations of this package, in the order of the operation
// catalogue.
func (t *Topics) Operations() []core.Operation {
	return []core.Operation{
		t.contactListGet(),
		t.topicsList(),
		t.topicsCreate(),
		t.topicsUpdate(),
		t.topicsDelete(),
	}
}
