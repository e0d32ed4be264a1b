package broadcasts

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config configures [Broadcasts]. All fields are required, unless their comments define
// what nil means.
type Config struct {
	Store      Store
	Audience   AudienceStore
	Outcomes   handover.OutcomeStore
	Transactor core.Transactor

	Audiences Audiences
	Topics    Topics
	Templates Templates
	Senders   Senders
	Registry  Registry
	Links     Links
	// Finish completes the content of a mail with the organization's footer, postal address
	// and asset addresses.
	Finish func(ctx context.Context, orgID string, content sending.Template) (sending.Template, error)
	// RefreshSuppressions reads the suppression list of the sending account, which judges
	// recipients, unless it was read within the last minutes.
	RefreshSuppressions func(ctx context.Context, orgID string) error
	// Approvals holds sends back until a person approves them. nil means that all sends go at
	// once.
	Approvals Approvals
	// Wake lets the dispatcher of this process (package dispatch) look for broadcasts at once.
	// nil means that there is none.
	Wake func()

	Clock core.Clock
	Log   *slog.Logger
}

// Topics finds topics.
type Topics interface {
	// Topic returns the display name of the topic. It fails with core.CodeNotFound if the
	// organization has no such topic.
	Topic(ctx context.Context, orgID, name string) (displayName string, err error)
}

// Templates reads the content of templates.
type Templates interface {
	// Template returns the content of a version of the template with the slug; number 0 means
	// the newest. It fails with core.CodeNotFound for an unknown slug or number.
	Template(ctx context.Context, orgID, slug string, number int) (Template, error)
}

// Template is the content of a template. Name is its name in events and reports.
type Template struct{ Subject, HTML, Text, Name string }

// Senders knows from which addresses an organization may send.
type Senders interface {
	// IsVerified reports whether the address or its domain is a verified identity.
	IsVerified(ctx context.Context, orgID, address string) (bool, error)
	// Default returns the address of broadcasts without a sender, "" if the organization has
	// no verified domain.
	Default(ctx context.Context, orgID string) (address string, err error)
	// Channel returns the name of the configuration set for broadcasts, "" for the default of
	// the account.
	Channel(ctx context.Context, orgID string) (string, error)
}

// Registry has the attributes of contacts.
type Registry interface {
	// AttributeNames returns the names of all attributes.
	AttributeNames(ctx context.Context, orgID string) ([]string, error)
}

// Links makes the links with which recipients unsubscribe.
type Links interface {
	// Links returns the links of one recipient of a send. topic is the topic that the link
	// ends, "" for all mail. contactID is "" for the links of a test, which change nothing.
	Links(orgID, contactID, topic, sendID string) (composition.Links, error)
}

// Broadcasts has the operations on broadcasts, and the searches of pages.
type Broadcasts struct{ *Editor }

// Editor has what people do with broadcasts on the dashboard, and how a send starts.
type Editor struct{ *renderer }

// renderer checks and makes the content of broadcasts.
type renderer struct{ Config }

// New returns a Broadcasts.
func New(cfg Config) *Broadcasts { return &Broadcasts{&Editor{&renderer{cfg}}} }

// Operations returns the operations of this package, in the order of the operation
// catalogue.
func (b *Broadcasts) Operations() []core.Operation {
	return []core.Operation{
		b.broadcastsList(), b.broadcastsGet(), b.broadcastsGetStatus(),
		b.broadcastsCreate(), b.broadcastsCompose(),
		b.broadcastsPreview(), b.broadcastsSend(),
		b.broadcastsResults(), b.broadcastsDelete(),
	}
}

// wake lets the dispatcher of this process look for work.
func (b *Editor) wake() {
	if b.Wake != nil {
		b.Wake()
	}
}
