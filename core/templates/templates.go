package templates

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config configures the package. All members are required.
type Config struct {
	Store   Store
	Account Account
	// Orgs returns every organization, for the job that visits all.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
}

// Account is the part of the sending account that the sync uses.
type Account interface {
	TemplatesPage(ctx context.Context, orgID, token string) (page []sending.TemplateName, next string, err error)
	Template(ctx context.Context, orgID, name string) (sending.Template, error)
}

// Store stores the mirror of the account's templates. Finders of one template fail with
// core.CodeNotFound. Every method takes part in the transaction of its context and sees only
// the given organization.
type Store interface {
	// Templates returns one page, newest first by CreatedAt and id.
	Templates(ctx context.Context, orgID string, f Filter) ([]Template, error)
	CountTemplates(ctx context.Context, orgID, query string) (int, error)
	// Template returns a template by slug, with its content.
	Template(ctx context.Context, orgID, slug string) (Template, sending.Template, error)
	// SaveTemplate stores a template as the account had it at the time at. It keeps
	// CreatedAt of an existing one. It sets LastModified to at if the content has changed.
	SaveTemplate(ctx context.Context, orgID string, t sending.Template, createdAt, at time.Time) error
	// ReadTemplates returns the time of the last read of each template, by name.
	ReadTemplates(ctx context.Context, orgID string) (map[string]time.Time, error)
	// KeepTemplates deletes all templates except those with these names.
	KeepTemplates(ctx context.Context, orgID string, names []string) error
}

// Filter narrows the templates.
type Filter struct {
	Query string // part of the name, the slug or the subject
	After *core.After
	Limit int
}

// Templates has the operations of this package.
type Templates struct{ Config }

// New returns a Templates.
func New(cfg Config) *Templates { return &Templates{Config: cfg} }

// Operations returns the operations, in the order of the catalogue.
func (t *Templates) Operations() []core.Operation {
	return []core.Operation{t.templatesList(), t.templatesGet()}
}
