package templates

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config is what the package needs. All members are required.
type Config struct {
	Store   Store
	Account Account
	// Orgs lists every organization, for the job that visits all.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
}

// Account is what the sync asks of the sending account.
type Account interface {
	TemplatesPage(ctx context.Context, orgID, token string) (page []sending.TemplateName, next string, err error)
	Template(ctx context.Context, orgID, name string) (sending.Template, error)
}

// Store remembers the templates of the account. Finders of one thing fail with
// core.CodeNotFound; everything takes part in the transaction of its context and
// sees only the organization it is given.
type Store interface {
	// Templates is one page, newest first by CreatedAt and id.
	Templates(ctx context.Context, orgID string, f Filter) ([]Template, error)
	CountTemplates(ctx context.Context, orgID, query string) (int, error)
	// Template finds by slug.
	Template(ctx context.Context, orgID, slug string) (Template, sending.Template, error)
	// SaveTemplate stores what the account had under a name when it was read, at.
	// CreatedAt is kept, and LastModified is at when the content is another one than
	// before.
	SaveTemplate(ctx context.Context, orgID string, t sending.Template, createdAt, at time.Time) error
	// ReadTemplates is when each was last read, by name.
	ReadTemplates(ctx context.Context, orgID string) (map[string]time.Time, error)
	// KeepTemplates removes those that have none of the names.
	KeepTemplates(ctx context.Context, orgID string, names []string) error
}

// Filter narrows the templates.
type Filter struct {
	Query string // part of the name, the slug or the subject
	After *core.After
	Limit int
}

// Templates does the tasks of this package.
type Templates struct{ Config }

// New makes a Templates.
func New(cfg Config) *Templates { return &Templates{Config: cfg} }

// Operations returns the operations, in the order of the catalogue.
func (t *Templates) Operations() []core.Operation {
	return []core.Operation{t.templatesList(), t.templatesGet()}
}
