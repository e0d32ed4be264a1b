package templates

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// ManagedStore stores managed templates and their versions.
type ManagedStore struct{ db *engine.DB }

var _ templates.ManagedStore = ManagedStore{}

// NewManagedStore returns the store of managed templates on the database.
func NewManagedStore(db *engine.DB) ManagedStore { return ManagedStore{db} }

// versionRow is a version of a managed template.
type versionRow struct {
	Number  int         `db:"version_number"`
	Subject string      `db:"subject"`
	HTML    string      `db:"html"`
	Text    string      `db:"body_text"`
	Hash    string      `db:"content_hash"`
	Message string      `db:"message"`
	Kind    string      `db:"saved_by_kind"`
	Saver   string      `db:"saved_by"`
	UserID  string      `db:"user_id"`
	SavedAt engine.Time `db:"saved_at"`
}

// managedRow is a managed template with its newest version.
type managedRow struct {
	ID        string      `db:"id"`
	Slug      string      `db:"slug"`
	Name      string      `db:"name"`
	TestData  string      `db:"test_data"`
	Faults    string      `db:"faults"`
	CreatedAt engine.Time `db:"created_at"`
	versionRow
}

const versionColumns = `v.version_number, v.subject, v.html, v.body_text, v.content_hash, v.message, v.saved_by_kind, v.saved_by, v.user_id, v.saved_at`

var (
	// insertManaged inserts a managed template, unless a template has its slug or name.
	insertManaged = engine.Register("insert managed template", `
		INSERT INTO templates (org_id, id, name, slug, subject, html, body_text, content_hash, search, created_at, updated_at, read_at, source, version_number, test_data, faults)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, 'managed', $12, $13, $14)
		ON CONFLICT DO NOTHING`)
	insertVersion = engine.Register("insert template version", `
		INSERT INTO template_versions (org_id, template_id, version_number, subject, html, body_text, content_hash, message, saved_by_kind, saved_by, user_id, saved_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT DO NOTHING`)
	// setManaged replaces the content of a managed template whose newest version has the
	// expected hash and number. A failure to deploy the version before is forgotten.
	setManaged = engine.Register("set managed template", `
		UPDATE templates SET subject = $1, html = $2, body_text = $3, content_hash = $4, search = $5, updated_at = $6, version_number = $7, test_data = $8,
			faults = '[]', deploy_failure = '', deploy_tried_at = 0
		WHERE org_id = $9 AND id = $10 AND source = 'managed' AND content_hash = $11 AND version_number = $12`)
	setTestData = engine.Register("set test data", `UPDATE templates SET test_data = $1 WHERE org_id = $2 AND id = $3 AND source = 'managed'`)
	setFaults   = engine.Register("set faults of template", `UPDATE templates SET faults = $1 WHERE org_id = $2 AND id = $3 AND source = 'managed'`)
	setTopic    = engine.Register("set template topic", `UPDATE templates SET topic = $1 WHERE org_id = $2 AND id = $3 AND source = 'managed'`)
	// managedBySlug finds a managed template through the unique key of its slug. One without
	// content has no version.
	managedBySlug = engine.RegisterPoint("managed template", `
		SELECT t.id, t.slug, t.name, t.test_data, t.faults, t.created_at, t.version_number, t.subject, t.html, t.body_text, t.content_hash,
			COALESCE(v.message, '') AS message, COALESCE(v.saved_by_kind, '') AS saved_by_kind, COALESCE(v.saved_by, '') AS saved_by,
			COALESCE(v.user_id, '') AS user_id, t.updated_at AS saved_at
		FROM templates AS t
		LEFT JOIN template_versions AS v ON v.org_id = t.org_id AND v.template_id = t.id AND v.version_number = t.version_number
		WHERE t.org_id = $1 AND t.slug = $2 AND t.source = 'managed'`)
	// versionBySlug finds a version through the unique key of the template's slug.
	versionBySlug = engine.RegisterPoint("template version", `
		SELECT `+versionColumns+` FROM templates AS t
		JOIN template_versions AS v ON v.org_id = t.org_id AND v.template_id = t.id
		WHERE t.org_id = $1 AND t.slug = $2 AND t.source = 'managed' AND v.version_number = $3`)
	templateVersions = engine.Register("template versions", `
		SELECT v.version_number, v.subject, '' AS html, '' AS body_text, v.content_hash, v.message, v.saved_by_kind, v.saved_by, v.user_id, v.saved_at
		FROM template_versions AS v
		WHERE v.org_id = $1 AND v.template_id = $2 AND v.version_number < $3 ORDER BY v.version_number DESC LIMIT $4`)
	managedNames = engine.Register("names of managed templates", `SELECT name FROM templates WHERE org_id = $1 AND source = 'managed'`)
)

func (r versionRow) version() templates.Version {
	return templates.Version{
		Number: r.Number, Subject: r.Subject, HTML: r.HTML, Text: r.Text, Hash: r.Hash, Message: r.Message,
		SavedBy: templates.Author{Kind: r.Kind, ID: r.Saver, UserID: r.UserID}, SavedAt: r.SavedAt.Time(),
	}
}

// searchText returns the text in which a search finds the template.
func searchText(t templates.ManagedTemplate) string {
	return strings.ToLower(t.DeployedName + "\n" + t.Slug + "\n" + t.Newest.Subject)
}

func (s ManagedStore) InsertManaged(ctx context.Context, orgID string, t templates.ManagedTemplate) error {
	taken := core.Conflict("A template has this slug or this deployed name.", "Choose another slug.")
	v := t.Newest
	faults, err := engine.JSONParameter(t.Faults)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.db.Insert(ctx, taken, insertManaged, orgID, t.ID, t.DeployedName, t.Slug, v.Subject, v.HTML, v.Text, v.Hash, searchText(t),
			engine.At(t.CreatedAt), engine.At(v.SavedAt), v.Number, t.TestData, faults); err != nil || v.Number == 0 {
			return err
		}
		return s.insertVersion(ctx, orgID, t)
	})
}

func (s ManagedStore) AddVersion(ctx context.Context, orgID, base string, t templates.ManagedTemplate) error {
	v := t.Newest
	return s.db.InTx(ctx, func(ctx context.Context) error {
		changed, err := s.db.Exec(ctx, setManaged, v.Subject, v.HTML, v.Text, v.Hash, searchText(t), engine.At(v.SavedAt), v.Number, t.TestData, orgID, t.ID, base, v.Number-1)
		if err != nil {
			return err
		}
		if changed == 0 {
			return versionConflict()
		}
		return s.insertVersion(ctx, orgID, t)
	})
}

func versionConflict() *core.Error {
	return core.Conflict("Another version of the template was saved since.", "Read the template again and apply the change to its new content.")
}

func (s ManagedStore) insertVersion(ctx context.Context, orgID string, t templates.ManagedTemplate) error {
	v := t.Newest
	return s.db.Insert(ctx, versionConflict(), insertVersion, orgID, t.ID, v.Number, v.Subject, v.HTML, v.Text, v.Hash, v.Message,
		v.SavedBy.Kind, v.SavedBy.ID, v.SavedBy.UserID, engine.At(v.SavedAt))
}

func (s ManagedStore) SetTestData(ctx context.Context, orgID, templateID, testData string) error {
	_, err := s.db.Exec(ctx, setTestData, testData, orgID, templateID)
	return err
}

func (s ManagedStore) SetFaults(ctx context.Context, orgID, templateID string, faults []string) error {
	parameter, err := engine.JSONParameter(faults)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, setFaults, parameter, orgID, templateID)
	return err
}

func (s ManagedStore) SetTopic(ctx context.Context, orgID, templateID, topic string) error {
	_, err := s.db.Exec(ctx, setTopic, topic, orgID, templateID)
	return err
}

func (s ManagedStore) ManagedBySlug(ctx context.Context, orgID, slug string) (templates.ManagedTemplate, error) {
	row, err := engine.One[managedRow](ctx, s.db, "template", managedBySlug, orgID, slug)
	if err != nil {
		return templates.ManagedTemplate{}, err
	}
	faults, err := engine.DecodeList[string](row.Faults)
	return templates.ManagedTemplate{
		ID: row.ID, Slug: row.Slug, DeployedName: row.Name, TestData: row.TestData, CreatedAt: row.CreatedAt.Time(), Newest: row.version(), Faults: faults,
	}, err
}

func (s ManagedStore) VersionBySlug(ctx context.Context, orgID, slug string, number int) (templates.Version, error) {
	row, err := engine.One[versionRow](ctx, s.db, "template version", versionBySlug, orgID, slug, number)
	return row.version(), err
}

func (s ManagedStore) Versions(ctx context.Context, orgID, templateID string, before, limit int) ([]templates.Version, error) {
	return engine.ListAs(ctx, s.db, versionRow.version, templateVersions, orgID, templateID, before, limit)
}

func (s ManagedStore) ManagedNames(ctx context.Context, orgID string) ([]string, error) {
	return engine.Values[string](ctx, s.db, managedNames, orgID)
}
