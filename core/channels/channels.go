package channels

import (
	"context"
	"log/slog"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config has the dependencies of [Channels]. All fields are required.
type Config struct {
	Store   Store
	Account Account
	// DNS finds out whether a DNS record is published.
	DNS DNS
	// Orgs returns the ids of all organizations, for the periodic jobs.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
	// Results stores how each sync of the periodic job ended. If it is nil, results are not
	// stored.
	Results sending.SyncRecorder
	// OnSync is called after a sync has stored the channels and identities of an organization.
	// It may be nil.
	OnSync func(orgID string)
}

// Account has the methods of the sending account that [Channels.Sync] uses.
type Account interface {
	Overview(ctx context.Context, orgID string) (sending.Overview, error)
	Identities(ctx context.Context, orgID string) ([]sending.Identity, error)
	ConfigurationSets(ctx context.Context, orgID string) ([]sending.ConfigurationSet, error)
}

// DNS finds out whether a DNS record is published. An error means that no name server
// answered, so it is unknown whether the record is published.
type DNS interface {
	IsPublished(ctx context.Context, orgID string, r Record) (bool, error)
}

// Channels has the operations on channels, sending identities and tracking domains, and
// their jobs.
type Channels struct{ Config }

// New returns a Channels.
func New(cfg Config) *Channels { return &Channels{Config: cfg} }

// Operations returns the operations of this package, in the order of the operation
// catalogue.
func (c *Channels) Operations() []core.Operation {
	return []core.Operation{
		c.channelsList(), c.channelsGet(),
		c.identitiesList(), c.identitiesGet(),
		c.trackingDomainsList(), c.trackingDomainsGet(),
	}
}

// ChannelName returns the provider's name for the channel with the id. It fails with
// core.CodeNotFound if there is no such channel.
func (c *Channels) ChannelName(ctx context.Context, orgID, id string) (string, error) {
	channel, err := c.Store.Channel(ctx, orgID, ChannelKey{ID: id})
	return channel.Name, err
}

// ChannelNameOf returns the provider's name for the channel that has the reference as its
// id or its slug. It fails with core.CodeNotFound if there is no such channel.
func (c *Channels) ChannelNameOf(ctx context.Context, orgID, reference string) (string, error) {
	if core.IsID(reference) {
		name, err := c.ChannelName(ctx, orgID, strings.ToLower(reference))
		if err == nil || core.AsError(err).Code != core.CodeNotFound {
			return name, err // if not found, reference may be a slug in the form of an id
		}
	}
	channel, err := c.Store.Channel(ctx, orgID, ChannelKey{Slug: reference})
	return channel.Name, err
}

// ChannelSlug returns the slug of the channel that has this name at the provider. It fails
// with core.CodeNotFound if there is no such channel.
func (c *Channels) ChannelSlug(ctx context.Context, orgID, name string) (string, error) {
	channel, err := c.Store.Channel(ctx, orgID, ChannelKey{Name: name})
	return channel.Slug, err
}

// Adopt takes the discovered channel with the slug into use: it makes the channel active
// and returns it. It fails if [Store.Adopt] refuses the channel, such as when another
// organization uses it. The caller must check permissions.
func (c *Channels) Adopt(ctx context.Context, orgID, slug string) (Channel, error) {
	channel, err := c.Store.Channel(ctx, orgID, ChannelKey{Slug: slug})
	if err != nil {
		return Channel{}, err
	}
	if err := c.Store.Adopt(ctx, orgID, channel.ID, c.Clock()); err != nil {
		return Channel{}, err
	}
	return c.Store.Channel(ctx, orgID, ChannelKey{ID: channel.ID})
}

// PageIn has the size and the cursor of a page.
type PageIn struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

// pageOf returns the page that the caller requested. The function read reads it from the
// store, and place returns the position of an item. filter names the list, so that a cursor
// of another list is refused.
func pageOf[T any](in PageIn, filter string, read func(after *core.After, limit int) ([]T, error), place func(T) core.After) (core.Page[T], error) {
	return core.ReadPage(filter, in.Cursor, in.Limit, read, place)
}
