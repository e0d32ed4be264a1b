package templates

import (
	"context"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/tags"
)

// Store stores copies of the email templates of sending accounts.
type Store struct{ db *engine.DB }

var _ templates.Store = Store{}

// New returns the store of templates on the database.
func New(db *engine.DB) Store { return Store{db} }

// templateRow is a template without its HTML and text. Hash is the hash of its content, by
// which a sync detects that the template in the sending account has changed.
type templateRow struct {
	ID        string      `db:"id"`
	Name      string      `db:"name"`
	Slug      string      `db:"slug"`
	Subject   string      `db:"subject"`
	Hash      string      `db:"content_hash"`
	CreatedAt engine.Time `db:"created_at"`
	UpdatedAt engine.Time `db:"updated_at"`
	Source    string      `db:"source"`
	Origin    string      `db:"origin"`
	Commit    string      `db:"commit_id"`
	Faults    string      `db:"faults"`
	Number    int         `db:"version_number"`
	Topic     string      `db:"topic"`

	DeployedVersion int          `db:"deployed_version"`
	DeployedAt      *engine.Time `db:"deployed_at"`
	DeployFailure   string       `db:"deploy_failure"`
}

const templateColumns = `id, name, slug, subject, content_hash, created_at, updated_at, source, origin, commit_id, faults, version_number, topic, deployed_version, deployed_at, deploy_failure`

// templateContentRow is a template with its HTML, text and test data. Only the read of a
// single template loads these.
type templateContentRow struct {
	templateRow
	HTML     string `db:"html"`
	Text     string `db:"body_text"`
	TestData string `db:"test_data"`
}

// templateSlugRow has the name and slug of a template. The slug never changes while the
// template keeps its name.
type templateSlugRow struct {
	Name string `db:"name"`
	Slug string `db:"slug"`
}

// templateReadRow has the name of a template, and the time at which a sync last read it
// from the sending account.
type templateReadRow struct {
	Name   string      `db:"name"`
	ReadAt engine.Time `db:"read_at"`
}

// droppedTemplate is a template to delete: an element of the JSON parameter of
// dropTemplates.
type droppedTemplate struct {
	Name   string      `json:"name"`
	ReadAt engine.Time `json:"read_at"`
}

// The beginnings of the queries for pages and numbers of templates.
const (
	pageFrom = `
		SELECT ` + templateColumns + ` FROM templates
		WHERE org_id = $1 AND (created_at, id) < ($2, $3) AND search LIKE $4 ESCAPE '\'`
	countFrom = `
		SELECT count(*) FROM templates WHERE org_id = $1 AND search LIKE $2 ESCAPE '\'`
)

var (
	// templatesPage selects a page of templates after the cursor, newest first, through the
	// index templates_newest. It compares the search text row by row.
	templatesPage = engine.Register("templates page", pageFrom+`
		ORDER BY created_at DESC, id DESC LIMIT $5`)
	// taggedPage and untaggedPage select pages of the templates with a tag and of those
	// without any.
	taggedPage = engine.Register("tagged templates page", pageFrom+`
		AND `+tags.OfTemplates.Has("templates", "$5")+`
		ORDER BY created_at DESC, id DESC LIMIT $6`)
	untaggedPage = engine.Register("untagged templates page", pageFrom+`
		AND `+tags.OfTemplates.HasNone("templates")+`
		ORDER BY created_at DESC, id DESC LIMIT $5`)
	allSlugs = engine.Register("slugs of all templates", `
		SELECT slug, source, origin, version_number FROM templates WHERE org_id = $1`)
	// countTemplates counts the templates that match a search text. It reads all templates
	// of the organization for that.
	countTemplates = engine.Register("count templates", countFrom)
	countTagged    = engine.Register("count tagged templates", countFrom+`
		AND `+tags.OfTemplates.Has("templates", "$3"))
	countUntagged = engine.Register("count untagged templates", countFrom+`
		AND `+tags.OfTemplates.HasNone("templates"))
	// tagsOfTemplate selects the names of the tags of one template.
	tagsOfTemplate = engine.Register("names of tags of template", `
		SELECT g.name FROM template_tags AS x JOIN tags AS g ON g.org_id = x.org_id AND g.id = x.tag_id
		WHERE x.org_id = $1 AND x.template_id = $2 ORDER BY g.name`)
	// templateBySlug selects a template through the unique key of its slug.
	templateBySlug = engine.RegisterPoint("template", `
		SELECT `+templateColumns+`, html, body_text, test_data FROM templates
		WHERE org_id = $1 AND slug = $2`)
	templateHash = engine.RegisterPoint("template hash", `SELECT content_hash FROM templates WHERE org_id = $1 AND name = $2`)
	// templateSlugs selects the slugs in use, so that a new template gets a different slug.
	templateSlugs = engine.Register("template slugs", `SELECT name, slug FROM templates WHERE org_id = $1`)
	// saveTemplate inserts or updates a template. An existing template keeps its id, slug
	// and time of creation. Nothing changes if its content is the same, or if Mailhelm manages
	// the template of this name.
	saveTemplate = engine.Register("save template", `
		INSERT INTO templates (org_id, id, name, slug, subject, html, body_text, content_hash, search, created_at, updated_at, read_at, faults)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT (org_id, name) DO UPDATE SET subject = excluded.subject, html = excluded.html, body_text = excluded.body_text,
			content_hash = excluded.content_hash, search = excluded.search, updated_at = excluded.updated_at, read_at = excluded.read_at, faults = excluded.faults
		WHERE templates.content_hash <> excluded.content_hash AND templates.source = 'import'`)
	// templateRead stores the time at which a sync last read a template that has not
	// changed. It also stores the faults, which are others after the rules of templates have
	// changed.
	templateRead  = engine.Register("template read", `UPDATE templates SET read_at = $1, faults = $2 WHERE org_id = $3 AND name = $4 AND source = 'import'`)
	templateReads = engine.Register("template reads", `SELECT name, read_at FROM templates WHERE org_id = $1 AND source = 'import'`)
	// dropTemplates deletes templates by name and time of the last read. $2 is a JSON array
	// of droppedTemplate. A template that a sync has read again since then stays.
	dropTemplates = engine.Register("drop templates", `
		DELETE FROM templates
		WHERE org_id = $1 AND source = 'import' AND (name, read_at) IN (
			SELECT j.value ->> 'name', CAST(j.value ->> 'read_at' AS bigint) FROM json_each(CAST($2 AS text)) AS j)`)
)

// sourceOf returns the source of a template, which is not that of the column if the repository defines
// the template.
func sourceOf(source, origin string) string {
	if source == templates.Managed && origin == string(core.GitOrigin) {
		return templates.Git
	}
	return source
}

// template converts the row.
func (r templateRow) template() (templates.Template, error) {
	faults, err := engine.DecodeList[string](r.Faults)
	t := templates.Template{
		ID: r.ID, Slug: r.Slug, Name: r.Name, Subject: r.Subject, ContentHash: r.Hash, Source: sourceOf(r.Source, r.Origin), DeployedName: r.Name,
		Commit: r.Commit, Faults: faults,
		CreatedAt: r.CreatedAt.Time(), LastModified: r.UpdatedAt.Time(), VersionNumber: r.Number, Topic: r.Topic,
		Deployed: templates.Deployment{Version: r.DeployedVersion, Failure: sending.FailureKind(r.DeployFailure)},
	}
	if r.DeployedAt != nil {
		t.Deployed.At = r.DeployedAt.Time()
	}
	return t, err
}

func (s Store) Templates(ctx context.Context, orgID string, f templates.Filter) ([]templates.Template, error) {
	created, id := engine.PageStart(f.After)
	query, args := templatesPage, []any{orgID, created, id, engine.SearchPattern(f.Query)}
	switch {
	case f.Tag != "":
		query, args = taggedPage, append(args, f.Tag)
	case f.Untagged:
		query = untaggedPage
	}
	return engine.ListParsed(ctx, s.db, templateRow.template, query, append(args, f.Limit)...)
}

// slugRow is a template with what others must know before they name it.
type slugRow struct {
	Slug   string `db:"slug"`
	Source string `db:"source"`
	Origin string `db:"origin"`
	Number int    `db:"version_number"`
}

func (r slugRow) use() templates.SlugUse {
	return templates.SlugUse{Slug: r.Slug, Source: sourceOf(r.Source, r.Origin), Sendable: r.Source == templates.Import || r.Number > 0}
}

func (s Store) Slugs(ctx context.Context, orgID string) ([]templates.SlugUse, error) {
	return engine.ListAs(ctx, s.db, slugRow.use, allSlugs, orgID)
}

func (s Store) CountTemplates(ctx context.Context, orgID string, f templates.Filter) (int, error) {
	query, args := countTemplates, []any{orgID, engine.SearchPattern(f.Query)}
	switch {
	case f.Tag != "":
		query, args = countTagged, append(args, f.Tag)
	case f.Untagged:
		query = countUntagged
	}
	counts, err := engine.Values[int](ctx, s.db, query, args...)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

func (s Store) Template(ctx context.Context, orgID, slug string) (templates.Template, sending.Template, error) {
	row, err := engine.One[templateContentRow](ctx, s.db, "template", templateBySlug, orgID, slug)
	if err != nil {
		return templates.Template{}, sending.Template{}, err
	}
	t, err := row.template()
	if err != nil {
		return templates.Template{}, sending.Template{}, err
	}
	t.TestData = row.TestData
	if t.Tags, err = engine.Values[string](ctx, s.db, tagsOfTemplate, orgID, row.ID); err != nil {
		return templates.Template{}, sending.Template{}, err
	}
	return t, sending.Template{Name: row.Name, Subject: row.Subject, Text: row.Text, HTML: row.HTML}, nil
}

// SaveTemplate stores a template that a sync has read from the sending account at the given
// time (its last parameter). If the content hash is unchanged, which is usual, it
// updates only the time of reading.
func (s Store) SaveTemplate(ctx context.Context, orgID string, t sending.Template, createdAt, at time.Time) error {
	hash := templates.HashOf(t)
	known, err := engine.Values[string](ctx, s.db, templateHash, orgID, t.Name)
	if err != nil {
		return err
	}
	faults, err := engine.JSONParameter(templates.FaultsOf(t))
	if err != nil {
		return err
	}
	if len(known) > 0 && known[0] == hash {
		_, err := s.db.Exec(ctx, templateRead, engine.At(at), faults, orgID, t.Name)
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context) error {
		rows, err := engine.List[templateSlugRow](ctx, s.db, templateSlugs, orgID)
		if err != nil {
			return err
		}
		known := map[string]string{}
		for _, r := range rows {
			known[r.Name] = r.Slug
		}
		slug := known[t.Name] + channels.Slugs(known, []string{t.Name})[t.Name]
		search := strings.ToLower(t.Name + "\n" + slug + "\n" + t.Subject)
		_, err = s.db.Exec(ctx, saveTemplate, orgID, core.NewID(), t.Name, slug, t.Subject, t.HTML, t.Text,
			hash, search, engine.At(createdAt), engine.At(at), engine.At(at), faults)
		return err
	})
}

func (s Store) ReadTemplates(ctx context.Context, orgID string) (map[string]time.Time, error) {
	rows, err := engine.List[templateReadRow](ctx, s.db, templateReads, orgID)
	if err != nil {
		return nil, err
	}
	reads := make(map[string]time.Time, len(rows))
	for _, r := range rows {
		reads[r.Name] = r.ReadAt.Time()
	}
	return reads, nil
}

func (s Store) DropTemplates(ctx context.Context, orgID string, reads map[string]time.Time) error {
	if len(reads) == 0 {
		return nil
	}
	var dropped []droppedTemplate
	for name, at := range reads {
		dropped = append(dropped, droppedTemplate{name, engine.At(at)})
	}
	return engine.ExecRows(ctx, s.db, dropTemplates, orgID, dropped)
}
