package templates

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// DeployStore stores how far managed templates have come to sending accounts.
type DeployStore struct{ db *engine.DB }

var _ templates.DeployStore = DeployStore{}

// NewDeployStore returns the store of deployments on the database.
func NewDeployStore(db *engine.DB) DeployStore { return DeployStore{db} }

// undeployedRow is a managed template to deploy.
type undeployedRow struct {
	ID      string `db:"id"`
	Slug    string `db:"slug"`
	Version int    `db:"deployed_version"`
	Newest  int    `db:"version_number"`
	Claimed bool   `db:"deploy_claimed"`

	ImagesChanged engine.Time `db:"assets_changed_at"`
}

// contentRow is the newest content of a managed template.
type contentRow struct {
	ID      string `db:"id"`
	Slug    string `db:"slug"`
	Subject string `db:"subject"`
	HTML    string `db:"html"`
	Text    string `db:"body_text"`
}

// deployedRow has the name and the time of a deployed template.
type deployedRow struct {
	Name string      `db:"name"`
	At   engine.Time `db:"deployed_at"`
}

// deployedName is an element of the JSON parameter of forgetDeployed.
type deployedName struct {
	Name string      `json:"name"`
	At   engine.Time `json:"at"`
}

// isDue is the condition that a managed template must be deployed. since is the parameter
// with the time at which the settings of all mail changed.
func isDue(since string) string {
	return `source = 'managed' AND (deployed_version < version_number OR deployed_at <= ` + since + `)
		AND (deploy_failure <> 'invalid' OR deploy_tried_at <= ` + since + `)`
}

var (
	// undeployed selects templates to deploy through the index templates_managed.
	undeployed = engine.Register("undeployed templates", `
		SELECT id, slug, deployed_version, version_number, deploy_claimed, assets_changed_at FROM templates
		WHERE org_id = $1 AND `+isDue("$2")+`
		ORDER BY deploy_tried_at, id LIMIT $3`)
	claimName = engine.Register("claim deployed name", `UPDATE templates SET deploy_claimed = TRUE WHERE org_id = $1 AND id = $2 AND source = 'managed'`)
	// saveDeployed stores a deployment. If another job has stored another version since $1
	// was read, or an image has changed since $3 was read, it stores 0.
	saveDeployed = engine.Register("save deployed template", `
		UPDATE templates SET deployed_version = CASE WHEN deployed_version IN (CAST($1 AS bigint), CAST($2 AS bigint))
				AND assets_changed_at = CAST($3 AS bigint) THEN CAST($2 AS bigint) ELSE 0 END,
			deployed_at = $4, deploy_failure = '', deploy_tried_at = $5
		WHERE org_id = $6 AND id = $7 AND source = 'managed'`)
	saveDeployFailure = engine.Register("save failure of deployment", `
		UPDATE templates SET deploy_failure = $1, deploy_tried_at = $2 WHERE org_id = $3 AND id = $4 AND source = 'managed'`)
	refuseDeployments = engine.Register("refuse deployments", `
		UPDATE templates SET deploy_failure = $1, deploy_tried_at = $2, deploy_claimed = FALSE WHERE org_id = $3 AND `+isDue("$4"))
	deployedNames = engine.Register("deployed templates", `
		SELECT name, deployed_at FROM templates WHERE org_id = $1 AND source = 'managed' AND deployed_at IS NOT NULL`)
	managedContents = engine.Register("contents of managed templates", `
		SELECT id, slug, subject, html, body_text FROM templates WHERE org_id = $1 AND source = 'managed' AND id > $2 ORDER BY id LIMIT $3`)
	// saveImagesChanged also lets content be deployed that the account refused before.
	saveImagesChanged = engine.Register("save change of images", `
		UPDATE templates SET assets_changed_at = $1, deployed_version = 0, deploy_failure = ''
		WHERE org_id = $2 AND source = 'managed' AND id IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`)
	// forgetDeployed makes templates count as not deployed. $2 is a JSON array of
	// deployedName.
	forgetDeployed = engine.Register("forget deployed templates", `
		UPDATE templates SET deployed_version = 0, deployed_at = NULL, deploy_claimed = FALSE
		WHERE org_id = $1 AND source = 'managed' AND (name, deployed_at) IN (
			SELECT j.value ->> 'name', CAST(j.value ->> 'at' AS bigint) FROM json_each(CAST($2 AS text)) AS j)`)
)

func (r undeployedRow) undeployed() templates.Undeployed {
	return templates.Undeployed{ID: r.ID, Slug: r.Slug, Version: r.Version, Newest: r.Newest, Claimed: r.Claimed, ImagesChanged: imagesChanged(r.ImagesChanged)}
}

// imagesChanged returns the zero time for a template whose images have never changed.
func imagesChanged(at engine.Time) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return at.Time()
}

func (r contentRow) content() templates.ManagedContent { return templates.ManagedContent(r) }

func (s DeployStore) Undeployed(ctx context.Context, orgID string, finished time.Time, limit int) ([]templates.Undeployed, error) {
	return engine.ListAs(ctx, s.db, undeployedRow.undeployed, undeployed, orgID, since(finished), limit)
}

// since returns a time for isDue. The zero time, for settings that were never changed, is
// before all deployments.
func since(finished time.Time) engine.Time {
	if finished.IsZero() {
		return -1
	}
	return engine.At(finished)
}

func (s DeployStore) ClaimName(ctx context.Context, orgID, templateID string) error {
	_, err := s.db.Exec(ctx, claimName, orgID, templateID)
	return err
}

func (s DeployStore) SaveDeployed(ctx context.Context, orgID string, u templates.Undeployed, version int, at time.Time) error {
	var changed engine.Time
	if !u.ImagesChanged.IsZero() {
		changed = engine.At(u.ImagesChanged)
	}
	_, err := s.db.Exec(ctx, saveDeployed, u.Version, version, changed, engine.At(at), engine.At(at), orgID, u.ID)
	return err
}

func (s DeployStore) SaveDeployFailure(ctx context.Context, orgID, templateID string, kind sending.FailureKind, at time.Time) error {
	_, err := s.db.Exec(ctx, saveDeployFailure, string(kind), engine.At(at), orgID, templateID)
	return err
}

func (s DeployStore) RefuseDeployments(ctx context.Context, orgID string, finished time.Time, kind sending.FailureKind, at time.Time) error {
	_, err := s.db.Exec(ctx, refuseDeployments, string(kind), engine.At(at), orgID, since(finished))
	return err
}

func (s DeployStore) DeployedNames(ctx context.Context, orgID string) (map[string]time.Time, error) {
	rows, err := engine.List[deployedRow](ctx, s.db, deployedNames, orgID)
	if err != nil {
		return nil, err
	}
	names := make(map[string]time.Time, len(rows))
	for _, r := range rows {
		names[r.Name] = r.At.Time()
	}
	return names, nil
}

func (s DeployStore) ForgetDeployed(ctx context.Context, orgID string, deployed map[string]time.Time) error {
	var rows []deployedName
	for name, at := range deployed {
		rows = append(rows, deployedName{name, engine.At(at)})
	}
	return engine.ExecRows(ctx, s.db, forgetDeployed, orgID, rows)
}

func (s DeployStore) ManagedContents(ctx context.Context, orgID, after string, limit int) ([]templates.ManagedContent, error) {
	return engine.ListAs(ctx, s.db, contentRow.content, managedContents, orgID, after, limit)
}

func (s DeployStore) SaveImagesChanged(ctx context.Context, orgID string, templateIDs []string, at time.Time) error {
	parameter, err := engine.JSONParameter(templateIDs)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, saveImagesChanged, engine.At(at), orgID, parameter)
	return err
}
