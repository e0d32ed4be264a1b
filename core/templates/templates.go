package templates

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config configures [Templates]. All fields are required, except those whose comment gives
// nil a meaning.
type Config struct {
	Store   Store
	Managed ManagedStore
	Account Account
	People  People
	// Registry has the names that variables may have.
	Registry Registry
	// Orgs returns the ids of all organizations, for the periodic job.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
	// Deployed has the deployed templates, which the sync compares with the account. If it is
	// nil, the sync does not find out that the account lacks some.
	Deployed DeployStore
	// Queue takes the deployment of a saved template. If it is nil, the periodic job deploys
	// the template.
	Queue jobs.Queue
	// Images gives images their public addresses in what templates_render returns. If it is nil,
	// images keep their paths.
	Images Images
	// PreviewImage returns the image of an organization at a path as a data URL (RFC 2397), "" if
	// there is none, or one that is too large for a preview. If it is nil, previews show no images.
	PreviewImage func(ctx context.Context, orgID, path string) (string, error)
	// Results stores how each sync of the periodic job ended. If it is nil, results are not
	// stored.
	Results sending.SyncRecorder
}

// Account has the methods of the sending account that the sync uses.
type Account interface {
	TemplatesPage(ctx context.Context, orgID, token string) (page []sending.TemplateName, next string, err error)
	Template(ctx context.Context, orgID, name string) (sending.Template, error)
}

// Store stores Mailhelm's copy of the account's templates. Methods that find one template
// fail with core.CodeNotFound if the template does not exist. Every method takes part in
// the transaction of its context, and reads and writes only the data of the given
// organization.
type Store interface {
	// Templates returns one page of templates, newest first, ordered by CreatedAt and id.
	Templates(ctx context.Context, orgID string, f Filter) ([]Template, error)
	// CountTemplates returns the number of templates that f selects, on all pages.
	CountTemplates(ctx context.Context, orgID string, f Filter) (int, error)
	// Slugs returns what the slugs of an organization name, in no particular order.
	Slugs(ctx context.Context, orgID string) ([]SlugUse, error)
	// Template returns the template with the slug, with its tags, and its content.
	Template(ctx context.Context, orgID, slug string) (Template, sending.Template, error)
	// SaveTemplate stores a template that was read from the account; the parameter named at
	// is the time of reading. For a new template it also stores createdAt. If the content
	// differs from the stored content, it sets LastModified to the time of reading.
	SaveTemplate(ctx context.Context, orgID string, t sending.Template, createdAt, at time.Time) error
	// ReadTemplates returns the time at which each template's content was last read from the
	// account, keyed by the template's name.
	ReadTemplates(ctx context.Context, orgID string) (map[string]time.Time, error)
	// DropTemplates deletes the templates with these names. Each name has the time at which
	// ReadTemplates said that the template was last read. A template that was read at
	// another time stays, because another sync has found it at the account since then.
	DropTemplates(ctx context.Context, orgID string, reads map[string]time.Time) error
}

// SlugUse is a template with what others must know before they name it.
type SlugUse struct {
	Slug, Source string
	// Sendable is false for a template whose files in the repository were never valid.
	Sendable bool
}

// Filter narrows the templates.
type Filter struct {
	Query string // part of the name, slug or subject; "" matches all
	Tag   string // the name of a tag; "" matches all
	// Untagged selects templates without tags. Tag must be "" then.
	Untagged bool
	After    *core.After
	Limit    int
}

// Templates has the operations on templates and the job that copies them from the sending
// accounts.
type Templates struct {
	Config
	refused refusals
}

// New returns a Templates.
func New(cfg Config) *Templates { return &Templates{Config: cfg} }

// Operations returns the operations of this package, in the order of the operation
// catalogue.
func (t *Templates) Operations() []core.Operation {
	return []core.Operation{t.templatesList(), t.templatesGet(), t.templatesRender(), t.templatesAuthor()}
}

// ReadTimes returns the time at which each template of an organization was last read from
// its sending account, by the template's name.
func (t *Templates) ReadTimes(ctx context.Context, orgID string) (map[string]time.Time, error) {
	return t.Store.ReadTemplates(ctx, orgID)
}

// Record returns the template with the slug, without its content, and with its tags. It
// fails with core.CodeNotFound for an unknown slug.
func (t *Templates) Record(ctx context.Context, orgID, slug string) (Template, error) {
	row, _, err := t.Store.Template(ctx, orgID, slug)
	if err != nil {
		return Template{}, err
	}
	return row.complete(), nil
}
