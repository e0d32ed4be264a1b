package reports

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Config has the dependencies of Reports.
type Config struct {
	Store Store
	// Channels may be nil; then no channel is ever found.
	Channels Channels
	Clock    core.Clock
}

// Channels translates between the channels of an organization and their names at the
// provider, which events use. All methods fail with core.CodeNotFound.
type Channels interface {
	ChannelName(ctx context.Context, orgID, id string) (string, error)
	ChannelNameOf(ctx context.Context, orgID, reference string) (string, error)
	ChannelSlug(ctx context.Context, orgID, name string) (string, error)
}

// Reports runs the operations of this package.
type Reports struct{ Config }

// New returns a Reports.
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

// Operations returns the operations of this package, in the order of the catalogue.
func (r *Reports) Operations() []core.Operation {
	return []core.Operation{
		r.sendingHealth(),
		r.deliverability(),
		r.engagement(),
		r.templatePerformance(),
	}
}
