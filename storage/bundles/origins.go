package bundles

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// inKeys selects the rows whose column is in the JSON array $3.
func inKeys(column string) string {
	return `WHERE org_id = $2 AND ` + column + ` IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`
}

var (
	attributeOrigins = engine.Register("set origins of attributes", `UPDATE attributes SET origin = $1 `+inKeys("name"))
	propertyOrigins  = engine.Register("set origin of an activity property", `
		UPDATE activity_properties SET origin = $1 WHERE org_id = $2 AND activity_name = $3 AND property = $4`)
	listOrigins     = engine.Register("set origins of lists", `UPDATE lists SET origin = $1 `+inKeys("key"))
	segmentOrigins  = engine.Register("set origins of segments", `UPDATE segments SET origin = $1 `+inKeys("key"))
	topicOrigins    = engine.Register("set origins of topics", `UPDATE topics SET origin = $1 `+inKeys("name"))
	workflowOrigins = engine.Register("set origins of workflows", `UPDATE workflows SET origin = $1 `+inKeys("key"))
	// releaseTemplates and ownTemplates change managed templates only. A template that the repository
	// does not define any more has no faults in files, unless it has no content.
	releaseTemplates = engine.Register("release templates", `
		UPDATE templates SET origin = $1, commit_id = '', faults = CASE WHEN version_number = 0 THEN faults ELSE '[]' END `+inKeys("slug")+`
			AND source = 'managed'`)
	ownTemplates = engine.Register("own templates", `
		UPDATE templates SET origin = $1, commit_id = CASE WHEN CAST($2 AS bytetext) = '' THEN commit_id ELSE $2 END
		WHERE org_id = $3 AND slug IN (SELECT j.atom FROM json_each(CAST($4 AS text)) AS j) AND source = 'managed'`)
)

// sources has the statements that say where the file of a definition is.
var sources = map[definitions.Kind]*engine.Statement{
	definitions.KindSegment: engine.Register("set source of a segment", `UPDATE segments SET source_path = $1 WHERE org_id = $2 AND key = $3`),
	definitions.KindWorkflow: engine.Register("set source of a workflow", `
		UPDATE workflows SET source_path = $1, source_url = $2 WHERE org_id = $3 AND key = $4`),
}

// SetSource stores where the file of a definition is. Segments have no address.
func (s Store) SetSource(ctx context.Context, orgID string, ref definitions.Ref, source definitions.Source) error {
	statement, ok := sources[ref.Kind]
	if !ok {
		return nil
	}
	arguments := []any{source.Path, orgID, ref.Key}
	if ref.Kind == definitions.KindWorkflow {
		arguments = []any{source.Path, source.URL, orgID, ref.Key}
	}
	_, err := s.db.Exec(ctx, statement, arguments...)
	return err
}

// SetOrigins stores where definitions of a kind are edited from now on.
func (s Store) SetOrigins(ctx context.Context, orgID string, kind definitions.Kind, keys []string, owner bundles.Owner) error {
	if kind == definitions.KindActivityProperty {
		for _, key := range keys {
			p := definitions.PropertyOf(key)
			if _, err := s.db.Exec(ctx, propertyOrigins, string(owner.Origin), orgID, p.Activity, p.Property); err != nil {
				return err
			}
		}
		return nil
	}
	statement, ok := map[definitions.Kind]*engine.Statement{
		definitions.KindAttribute: attributeOrigins, definitions.KindList: listOrigins, definitions.KindSegment: segmentOrigins,
		definitions.KindTopic: topicOrigins, definitions.KindTemplate: releaseTemplates, definitions.KindWorkflow: workflowOrigins,
	}[kind]
	if kind == definitions.KindTemplate && owner.Origin == core.GitOrigin {
		statement = ownTemplates
	}
	if !ok || len(keys) == 0 {
		return nil
	}
	parameter, err := engine.JSONParameter(keys)
	if err != nil {
		return err
	}
	args := []any{string(owner.Origin), orgID, parameter}
	if statement == ownTemplates {
		args = []any{string(owner.Origin), owner.Commit, orgID, parameter}
	}
	_, err = s.db.Exec(ctx, statement, args...)
	return err
}
