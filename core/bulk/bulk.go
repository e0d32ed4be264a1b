package bulk

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/topics"
)

// Config has the dependencies of [Bulk]. All fields are required, except those whose
// comment gives nil a meaning.
type Config struct {
	// Store stores bulk writes with their rows and outcomes. Contacts reads and writes
	// contacts.
	Store      JobStore
	Contacts   ContactStore
	Transactor core.Transactor
	// Attributes reads the attribute registry, against which the attribute values of rows
	// are checked.
	Attributes AttributeReader
	// Topics reads the topics that rows name, from the copy in the database. Lists finds the
	// static lists that rows name.
	Topics TopicReader
	Lists  ListFinder
	// Orgs lists the ids of all organizations. The periodic job, which finishes open bulk
	// writes and deletes old ones, calls it.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger

	// ErasedAddresses returns those of the email keys that must not become contacts again,
	// because a person was erased who must get no mail. nil means none.
	ErasedAddresses func(ctx context.Context, orgID string, keys []string) (map[string]bool, error)

	// Queue receives a job for each new bulk write. If Queue is nil, bulk writes wait for
	// the next periodic run.
	Queue jobs.Queue
	// Observe counts, for metrics, the outcomes of rows: n rows had the outcome. The
	// parameter what is always "bulk_row". If Observe is nil, outcomes are not counted.
	Observe func(what, outcome string, n int)
	// OnChange is called with the contacts whose record, consent or lists changed, in the
	// transaction of the write. If OnChange is nil, changes are not reported.
	OnChange func(ctx context.Context, orgID string, contactIDs []string) error
	// OnWrite is called with the caller of a bulk write and the contacts that it changed, in
	// the transaction of the write. An import has no caller, so OnWrite is not called for
	// it. The program uses OnWrite to delete stored results of the caller's earlier calls
	// that the write made outdated. If OnWrite is nil, these results stay stored.
	OnWrite func(ctx context.Context, orgID, caller string, contactIDs []string) error
}

// AttributeReader reads the registry of contact attributes.
type AttributeReader interface {
	// Attributes returns all registered attributes of the organization, sorted by name.
	Attributes(ctx context.Context, orgID string) ([]attributes.Attribute, error)
}

// TopicReader reads the mirrored topics.
type TopicReader interface {
	// Topics returns the organization's topics, sorted by name, from the copy in the
	// database.
	Topics(ctx context.Context, orgID string) ([]topics.Topic, error)
}

// ListFinder finds static lists.
type ListFinder interface {
	// Find returns the static lists with these ids or keys. It skips ids and keys that no
	// list has.
	Find(ctx context.Context, orgID string, names []string) ([]lists.Ref, error)
}

// Bulk has the operations that write many contacts, and the methods that the import command
// of the command line calls.
type Bulk struct {
	Config
}

// New returns a Bulk.
func New(cfg Config) *Bulk { return &Bulk{cfg} }

// Operations returns the operations of this package, in the order of the operation
// catalogue.
func (b *Bulk) Operations() []core.Operation {
	return []core.Operation{b.contactsBulk(), b.contactsBulkGet()}
}

// registry returns the organization's registered attributes, keyed by name.
func (b *Bulk) registry(ctx context.Context, orgID string) (attributes.Registry, error) {
	all, err := b.Attributes.Attributes(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return attributes.NewRegistry(all), nil
}
