package reports

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Config is what the package needs.
type Config struct {
	Store Store
	// Channels may be nil, which knows none.
	Channels Channels
	Clock    core.Clock
}

// Channels knows what the organization's channels are called at the provider,
// which is how events name them. All fail with core.CodeNotFound.
type Channels interface {
	ChannelName(ctx context.Context, orgID, id string) (string, error)
	ChannelNameOf(ctx context.Context, orgID, reference string) (string, error)
	ChannelSlug(ctx context.Context, orgID, name string) (string, error)
}

// Reports does the tasks of this package.
type Reports struct{ Config }

// New makes a Reports.
func New(cfg Config) *Reports {
	if cfg.Channels == nil {
		cfg.Channels = noChannels{}
	}
	return &Reports{Config: cfg}
}

type noChannels struct{}

func (noChannels) ChannelName(context.Context, string, string) (string, error) {
	return "", core.NotFound("channel")
}

func (noChannels) ChannelSlug(context.Context, string, string) (string, error) {
	return "", core.NotFound("channel")
}

func (noChannels) ChannelNameOf(context.Context, string, string) (string, error) {
	return "", core.NotFound("channel")
}

// Operations are the tasks, in the order of the catalogue.
func (r *Reports) Operations() []core.Operation {
	return []core.Operation{
		r.sendingHealth(),
		r.deliverability(),
		r.engagement(),
		r.templatePerformance(),
	}
}
