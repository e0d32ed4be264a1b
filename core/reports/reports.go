package reports

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Config has the dependencies of a [Reports].
type Config struct {
	Store Store
	// Channels finds channels by id, slug or name. If it is nil, reports treat every channel
	// as not found.
	Channels Channels
	Clock    core.Clock
}

// Channels translates between Mailhelm's ids and slugs of channels and the provider's
// names, which events contain. Every method fails with core.CodeNotFound for an unknown
// channel.
type Channels interface {
	ChannelName(ctx context.Context, orgID, id string) (string, error)
	ChannelNameOf(ctx context.Context, orgID, reference string) (string, error)
	ChannelSlug(ctx context.Context, orgID, name string) (string, error)
}

// Reports implements the operations of this package. It also counts new events when they
// are stored; see [Reports.ObserveEvents].
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

// Operations returns the operations of this package, in the order of the operation
// catalogue.
func (r *Reports) Operations() []core.Operation {
	return []core.Operation{
		r.sendingHealth(),
		r.deliverability(),
		r.engagement(),
		r.templatePerformance(),
	}
}
