package segments

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores the definitions of segments, and reads the names that predicates may use.
type Store struct{ db *engine.DB }

var _ segments.Store = Store{}

// New returns the store of segments on the database.
func New(db *engine.DB) Store { return Store{db} }

// segmentRow is a row of segments. MemberCount is updated by each evaluation. Stale is true
// while all contacts must be evaluated again.
type segmentRow struct {
	ID              string              `db:"id"`
	Key             string              `db:"key"`
	Name            string              `db:"name"`
	Description     string              `db:"description"`
	Source          string              `db:"source"`
	ProfileVersion  int                 `db:"profile_version"`
	EvalClass       predicate.EvalClass `db:"eval_class"`
	Status          segments.Status     `db:"status"`
	EvalWarning     string              `db:"eval_warning"`
	EvalWarningAt   *engine.Time        `db:"eval_warning_at"`
	MemberCount     int                 `db:"member_count"`
	LastEvaluatedAt *engine.Time        `db:"last_evaluated_at"`
	Origin          segments.Origin     `db:"origin"`
	SourcePath      string              `db:"source_path"`
	CreatedAt       engine.Time         `db:"created_at"`
	UpdatedAt       engine.Time         `db:"updated_at"`
	Stale           bool                `db:"stale"`
}

// segment converts the row.
func (r segmentRow) segment() segments.Segment {
	return segments.Segment{
		ID: r.ID, Key: r.Key, Name: r.Name, Description: r.Description, Source: r.Source, ProfileVersion: r.ProfileVersion,
		EvalClass: r.EvalClass, Status: r.Status, EvalWarning: r.EvalWarning, EvalWarningAt: engine.OptionalTime(r.EvalWarningAt),
		MemberCount: r.MemberCount, LastEvaluatedAt: engine.OptionalTime(r.LastEvaluatedAt), Origin: r.Origin, SourcePath: r.SourcePath,
		CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(), Stale: r.Stale,
	}
}

// segmentColumns lists the columns of a segmentRow.
const segmentColumns = `id, key, name, description, source, profile_version, eval_class, status, eval_warning, eval_warning_at,
	member_count, last_evaluated_at, origin, source_path, created_at, updated_at, stale`

// segmentFilter is the SQL condition of a filter of segments. $2 is a status, or "" for
// all; $3 is a LIKE pattern for the search text.
const segmentFilter = `org_id = $1 AND (CAST($2 AS text) = '' OR status = $2) AND search LIKE $3 ESCAPE '\'`

var (
	insertSegment = engine.Register("insert segment", `
		INSERT INTO segments (org_id, id, key, name, description, search, source, profile_version, eval_class, status,
			eval_warning, eval_warning_at, member_count, origin, source_path, created_at, updated_at, stale)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, $13, $14, $15, $16, $17)
		ON CONFLICT DO NOTHING`)
	updateSegment = engine.Register("update segment", `
		UPDATE segments SET name = $1, description = $2, search = $3, source = $4, profile_version = $5, eval_class = $6, status = $7,
			eval_warning = $8, eval_warning_at = $9, origin = $10, source_path = $11, updated_at = $12, stale = $13
		WHERE org_id = $14 AND id = $15`)
	segmentByID  = engine.RegisterPoint("segment by id", `SELECT `+segmentColumns+` FROM segments WHERE org_id = $1 AND id = $2`)
	segmentByKey = engine.RegisterPoint("segment by key", `SELECT `+segmentColumns+` FROM segments WHERE org_id = $1 AND key = $2`)
	// lockSegment locks a segment for an update. The lock FOR NO KEY UPDATE does not
	// conflict with inserts of rows that refer to the segment.
	lockSegment = engine.Register("lock segment", `
		SELECT `+segmentColumns+` FROM segments WHERE org_id = $1 AND id = $2 /*pg FOR NO KEY UPDATE*/`)
	// lockSegments locks all segments of an organization, in the order of creation, so that
	// concurrent calls cannot deadlock.
	lockSegments = engine.Register("lock segments", `SELECT id FROM segments WHERE org_id = $1 ORDER BY created_at, id /*pg FOR NO KEY UPDATE*/`)
	segmentsPage = engine.Register("segments page", `
		SELECT `+segmentColumns+` FROM segments WHERE `+segmentFilter+` AND (created_at, id) < ($4, $5)
		ORDER BY created_at DESC, id DESC LIMIT $6`)
	countSegments = engine.Register("count segments", `SELECT count(*) FROM segments WHERE `+segmentFilter)
	allSegments   = engine.Register("segments", `SELECT `+segmentColumns+` FROM segments WHERE org_id = $1 ORDER BY created_at, id`)

	attributeTypes = engine.RegisterPoint("types of attributes", `
		SELECT name, type, enum_values, slot FROM attributes WHERE org_id = $1`)
	propertyTypes = engine.RegisterPoint("types of activity properties", `
		SELECT activity_name, property, type FROM activity_properties WHERE org_id = $1`)
	// namedSets selects the topics, lists and segments. It includes archived ones, which
	// predicates may not name. The column value is the default subscription of a topic, and
	// the id of a list or segment.
	namedSets = engine.RegisterPoint("what predicates may name", `
		SELECT 'topic' AS kind, name AS key, default_subscription AS value, status FROM topics WHERE org_id = $1
		UNION ALL SELECT 'list', key, id, status FROM lists WHERE org_id = $1
		UNION ALL SELECT 'segment', key, id, status FROM segments WHERE org_id = $1`)
	// seenActivities selects the distinct names of activities. It takes one step in the
	// index for each name, so its cost does not depend on the number of activities.
	seenActivities = engine.Register("names of activities", `
		SELECT name FROM (WITH RECURSIVE seen (name) AS (
			SELECT (SELECT min(name) FROM activities WHERE org_id = $1)
			UNION ALL SELECT (SELECT min(a.name) FROM activities AS a WHERE a.org_id = $1 AND a.name > seen.name) FROM seen WHERE seen.name IS NOT NULL
		) SELECT name FROM seen WHERE name IS NOT NULL LIMIT $2) AS names`)
)

// maxSeenActivities is the largest number of activity names that are read, for suggesting
// names in error messages.
const maxSeenActivities = 500

func (s Store) InsertSegment(ctx context.Context, orgID string, g segments.Segment) error {
	taken := core.Conflict("A segment of this organization has this key already.", "Choose another key.")
	return s.db.Insert(ctx, taken, insertSegment, orgID, g.ID, g.Key, g.Name, g.Description, engine.SearchText(g.Name, g.Key), g.Source,
		g.ProfileVersion, string(g.EvalClass), string(g.Status), g.EvalWarning, engine.OptionalAt(g.EvalWarningAt),
		string(g.Origin), g.SourcePath, engine.At(g.CreatedAt), engine.At(g.UpdatedAt), g.Stale)
}

func (s Store) UpdateSegment(ctx context.Context, orgID string, g segments.Segment) error {
	return s.db.Change(ctx, "segment", updateSegment, g.Name, g.Description, engine.SearchText(g.Name, g.Key), g.Source,
		g.ProfileVersion, string(g.EvalClass), string(g.Status), g.EvalWarning, engine.OptionalAt(g.EvalWarningAt),
		string(g.Origin), g.SourcePath, engine.At(g.UpdatedAt), g.Stale, orgID, g.ID)
}

func (s Store) Segment(ctx context.Context, orgID, ref string) (segments.Segment, error) {
	by := segmentByKey
	if core.IsID(ref) {
		by = segmentByID
	}
	row, err := engine.One[segmentRow](ctx, s.db, "segment", by, orgID, ref)
	return row.segment(), err
}

func (s Store) LockSegment(ctx context.Context, orgID, id string) (segments.Segment, error) {
	row, err := engine.One[segmentRow](ctx, s.db, "segment", lockSegment, orgID, id)
	return row.segment(), err
}

func (s Store) LockSegments(ctx context.Context, orgID string) error {
	_, err := engine.Values[string](ctx, s.db, lockSegments, orgID)
	return err
}

func (s Store) Segments(ctx context.Context, orgID string, f segments.Filter) ([]segments.Segment, error) {
	created, id := engine.PageStart(f.After)
	return s.segments(ctx, segmentsPage, orgID, string(f.Status), engine.SearchPattern(f.Query), created, id, f.Limit)
}

func (s Store) AllSegments(ctx context.Context, orgID string) ([]segments.Segment, error) {
	return s.segments(ctx, allSegments, orgID)
}

// segments returns the segments that the statement selects, in the order of the statement.
func (s Store) segments(ctx context.Context, by *engine.Statement, args ...any) ([]segments.Segment, error) {
	return engine.ListAs(ctx, s.db, segmentRow.segment, by, args...)
}

func (s Store) CountSegments(ctx context.Context, orgID string, f segments.Filter) (int, error) {
	counts, err := engine.Values[int](ctx, s.db, countSegments, orgID, string(f.Status), engine.SearchPattern(f.Query))
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// attributeTypeRow is the definition of an attribute, with only the columns that predicates
// need. Slot is the name of the column of contact_slots that holds the attribute's values,
// or "".
type attributeTypeRow struct {
	Name       string `db:"name"`
	Type       string `db:"type"`
	EnumValues string `db:"enum_values"`
	Slot       string `db:"slot"`
}

// propertyTypeRow has the type of a promoted activity property.
type propertyTypeRow struct {
	Activity string `db:"activity_name"`
	Property string `db:"property"`
	Type     string `db:"type"`
}

// namedSetRow is a result row of namedSets: a topic, list or segment.
type namedSetRow struct {
	Kind   predicate.SetKind `db:"kind"`
	Key    string            `db:"key"`
	Value  string            `db:"value"`
	Status string            `db:"status"`
}

// PredicateSchema returns the attributes, properties, topics, lists and segments that
// predicates of the organization may name, and the archived ones. It runs three statements.
func (s Store) PredicateSchema(ctx context.Context, orgID string) (segments.Schema, error) {
	schema := segments.Schema{Slots: map[string]string{}, Schema: predicate.Schema{
		Attributes: map[string]predicate.AttributeType{}, Properties: map[predicate.ActivityProperty]predicate.Type{},
		Topics: map[string]bool{}, Lists: map[string]string{}, Segments: map[string]string{}, Archived: map[predicate.Archived]bool{},
	}}
	if err := s.attributeTypes(ctx, orgID, schema); err != nil {
		return schema, err
	}
	properties, err := engine.List[propertyTypeRow](ctx, s.db, propertyTypes, orgID)
	if err != nil {
		return schema, err
	}
	for _, p := range properties {
		schema.Properties[predicate.ActivityProperty{Activity: p.Activity, Property: p.Property}] = segments.TypeOf(p.Type, nil).Type
	}
	sets, err := engine.List[namedSetRow](ctx, s.db, namedSets, orgID)
	if err != nil {
		return schema, err
	}
	for _, set := range sets {
		switch {
		case set.Status == string(segments.Archived):
			schema.Archived[predicate.Archived{Kind: set.Kind, Key: set.Key}] = true
		case set.Kind == predicate.TopicSet:
			schema.Topics[set.Key] = set.Value == string(sending.OptIn)
		case set.Kind == predicate.ListSet:
			schema.Lists[set.Key] = set.Value
		default:
			schema.Segments[set.Key] = set.Value
		}
	}
	return schema, nil
}

func (s Store) SeenActivities(ctx context.Context, orgID string) ([]string, error) {
	return engine.Values[string](ctx, s.db, seenActivities, orgID, maxSeenActivities)
}

// attributeTypes adds the organization's attributes to schema. It returns an error if the
// enum values of an attribute do not parse.
func (s Store) attributeTypes(ctx context.Context, orgID string, schema segments.Schema) error {
	rows, err := engine.List[attributeTypeRow](ctx, s.db, attributeTypes, orgID)
	if err != nil {
		return err
	}
	for _, row := range rows {
		var enumValues []string
		if err := json.Unmarshal([]byte(row.EnumValues), &enumValues); err != nil {
			return fmt.Errorf("storage: values of attribute %s: %w", row.Name, err)
		}
		schema.Attributes[row.Name] = segments.TypeOf(row.Type, enumValues)
		if row.Slot != "" {
			schema.Slots[row.Name] = row.Slot
		}
	}
	return nil
}
