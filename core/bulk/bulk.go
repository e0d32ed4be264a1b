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

// Config has the dependencies of Bulk. All fields are required, except those whose
// comment says what nil means.
type Config struct {
	// Store stores the jobs and their rows, Contacts the contacts.
	Store      JobStore
	Contacts   ContactStore
	Transactor core.Transactor
	// Attributes reads the registry that values of contacts are checked against.
	Attributes AttributeReader
	// Topics reads the mirrored topics, Lists the static lists that rows name.
	Topics TopicReader
	Lists  ListFinder
	// Orgs lists every organization, for the job that visits all.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger

	// Queue takes the jobs of bulk writes; with nil they wait for the periodic run.
	Queue jobs.Queue
	// Observe counts the outcomes of rows; nil counts nothing.
	Observe func(what, outcome string, n int)
	// OnChange is called in the transaction of a write, with the contacts whose record,
	// consent or lists changed. nil reports nothing.
	OnChange func(ctx context.Context, orgID string, contactIDs []string) error
	// OnWrite is called in the transaction of a write, with its caller and the contacts
	// that it changed. The rails report single writes. nil reports nothing.
	OnWrite func(ctx context.Context, orgID, caller string, contactIDs []string) error
}

// AttributeReader reads the registry of attributes.
type AttributeReader interface {
	// Attributes returns all attributes of the organization, by name.
	Attributes(ctx context.Context, orgID string) ([]attributes.Attribute, error)
}

// TopicReader reads the mirrored topics.
type TopicReader interface {
	// Topics returns the mirrored topics of the organization, by name.
	Topics(ctx context.Context, orgID string) ([]topics.Topic, error)
}

// ListFinder finds static lists.
type ListFinder interface {
	// Find returns the lists with these ids or keys. It leaves out names of no list.
	Find(ctx context.Context, orgID string, names []string) ([]lists.Ref, error)
}

// Bulk writes many contacts: as operations, and for commands that import files.
type Bulk struct {
	Config
}

// New returns a Bulk.
func New(cfg Config) *Bulk { return &Bulk{cfg} }

// Operations returns the operations of this package, in the order of the catalogue.
func (b *Bulk) Operations() []core.Operation {
	return []core.Operation{b.contactsBulk(), b.contactsBulkGet()}
}

// registry returns the organization's attributes by name.
func (b *Bulk) registry(ctx context.Context, orgID string) (attributes.Registry, error) {
	all, err := b.Attributes.Attributes(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return attributes.NewRegistry(all), nil
}
