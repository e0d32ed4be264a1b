package reports

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Config is what the package needs. All members are required.
type Config struct {
	Store    Store
	Channels Channels
	Clock    core.Clock
}

// Channels knows what the organization's channels are called at the provider,
// which is how events name them. Both fail with core.CodeNotFound.
type Channels interface {
	ChannelName(ctx context.Context, orgID, id string) (string, error)
	ChannelNameBySlug(ctx context.Context, orgID, slug string) (string, error)
}

// Reports does the tasks of this package.
type Reports struct{ Config }

// New makes a Reports.
func New(cfg Config) *Reports { return &Reports{Config: cfg} }

// Operations are the tasks, in the order of the catalogue.
func (r *Reports) Operations() []core.Operation {
	return []core.Operation{
		r.sendingHealth(),
		r.deliverability(),
		r.engagement(),
		r.templatePerformance(),
	}
}
