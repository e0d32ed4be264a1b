package audience

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config is what the audience needs. All members are required.
type Config struct {
	Store   Store
	Account sending.Account
	// Orgs lists every organization, for the job that visits all.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
}

// Audience does the tasks of this package.
type Audience struct {
	Config
	topics *topicCache
	writes *addressLocks
}

// New makes an Audience.
func New(cfg Config) *Audience {
	return &Audience{Config: cfg, topics: newTopicCache(cfg.Clock), writes: newAddressLocks()}
}

// Operations are the tasks, in the order of the catalogue.
func (a *Audience) Operations() []core.Operation {
	return []core.Operation{
		a.contactsLookup(),
		a.contactsList(),
		a.contactsCreate(),
		a.contactsReplace(),
		a.contactsUpdate(),
		a.contactsUpsert(),
		a.contactsArchive(),
		a.listsList(),
		a.attributesList(),
		a.topicsList(),
		a.audienceGetSchema(),
	}
}
