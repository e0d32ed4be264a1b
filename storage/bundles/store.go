package bundles

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store reads definitions.
type Store struct{ db *engine.DB }

var _ bundles.Store = Store{}

// New returns the store of definitions on the database.
func New(db *engine.DB) Store { return Store{db} }

// Every statement selects what belongs to a definition and its origin, without archived
// definitions. They are sorted by their keys in Go, because databases sort texts in different
// ways.
var (
	attributesOfBundle = engine.Register("attributes of a bundle", `
		SELECT name, type, enum_values, description, origin FROM attributes WHERE org_id = $1`)
	propertiesOfBundle = engine.Register("activity properties of a bundle", `
		SELECT activity_name, property, type, description, origin FROM activity_properties WHERE org_id = $1`)
	listsOfBundle = engine.Register("lists of a bundle", `
		SELECT key, name, description, origin FROM lists WHERE org_id = $1 AND status <> 'archived'`)
	segmentsOfBundle = engine.Register("segments of a bundle", `
		SELECT key, name, description, source, origin, source_path FROM segments WHERE org_id = $1 AND status <> 'archived'`)
	topicsOfBundle = engine.Register("topics of a bundle", `
		SELECT name, display_name, description, default_subscription, origin FROM topics WHERE org_id = $1 AND status <> 'archived'`)
	// templatesOfBundle also selects templates without content, whose files were never valid.
	templatesOfBundle = engine.Register("templates of a bundle", `
		SELECT id, slug, subject, html, body_text, topic, test_data, version_number, faults, origin FROM templates WHERE org_id = $1 AND source = 'managed'`)
	tagsOfBundle = engine.Register("template tags of a bundle", `
		SELECT u.template_id, t.name FROM template_tags AS u
		JOIN tags AS t ON t.org_id = u.org_id AND t.id = u.tag_id
		WHERE u.org_id = $1 ORDER BY t.created_at, t.id`)
	// workflowsOfBundle selects the newest version, which may be a draft.
	workflowsOfBundle = engine.Register("workflows of a bundle", `
		SELECT w.key, v.source, w.origin, w.source_path, w.source_url FROM workflows AS w
		JOIN workflow_versions AS v ON v.org_id = w.org_id AND v.workflow_id = w.id
			AND v.number = CASE WHEN w.draft_version > w.current_version THEN w.draft_version ELSE w.current_version END
		WHERE w.org_id = $1 AND w.status <> 'archived'`)
)

// row has the columns of all statements.
type row struct {
	ID          string `db:"id"`
	TemplateID  string `db:"template_id"`
	Key         string `db:"key"`
	Name        string `db:"name"`
	DisplayName string `db:"display_name"`
	Activity    string `db:"activity_name"`
	Property    string `db:"property"`
	Type        string `db:"type"`
	EnumValues  string `db:"enum_values"`
	Description string `db:"description"`
	Source      string `db:"source"`
	Default     string `db:"default_subscription"`
	Slug        string `db:"slug"`
	Subject     string `db:"subject"`
	HTML        string `db:"html"`
	Text        string `db:"body_text"`
	Topic       string `db:"topic"`
	TestData    string `db:"test_data"`
	Number      int    `db:"version_number"`
	Faults      string `db:"faults"`
	Origin      string `db:"origin"`
	SourcePath  string `db:"source_path"`
	SourceURL   string `db:"source_url"`
}

// AddDefinitions adds the definitions of a kind to the set, and says that the set declares them.
func (s Store) AddDefinitions(ctx context.Context, orgID string, kind definitions.Kind, held *bundles.Held) error {
	statements := map[definitions.Kind]*engine.Statement{
		definitions.KindAttribute: attributesOfBundle, definitions.KindActivityProperty: propertiesOfBundle, definitions.KindList: listsOfBundle,
		definitions.KindSegment: segmentsOfBundle, definitions.KindTopic: topicsOfBundle, definitions.KindTemplate: templatesOfBundle,
		definitions.KindWorkflow: workflowsOfBundle,
	}
	statement, ok := statements[kind]
	if !ok {
		return fmt.Errorf("no definitions of the kind %s are stored", kind)
	}
	rows, err := engine.List[row](ctx, s.db, statement, orgID)
	if err != nil {
		return err
	}
	var tags map[string][]string
	if kind == definitions.KindTemplate {
		if tags, err = s.tags(ctx, orgID); err != nil {
			return err
		}
	}
	held.Set.Declared[kind] = true
	for _, r := range rows {
		key, err := r.addTo(&held.Set, kind, tags)
		if err != nil {
			return fmt.Errorf("%s %s: %w", kind, key, err)
		}
		ref := definitions.Ref{Kind: kind, Key: key}
		if r.Origin == string(core.GitOrigin) {
			held.FromGit[ref] = true
		}
		if held.Sources != nil && sources[kind] != nil {
			held.Sources[ref] = definitions.Source{Path: r.SourcePath, URL: r.SourceURL}
		}
		if kind == definitions.KindTemplate {
			if held.Broken[definitions.Ref{Kind: kind, Key: key}], err = engine.DecodeList[string](r.Faults); err != nil {
				return fmt.Errorf("faults of template %s: %w", key, err)
			}
		}
	}
	held.Set.Sort()
	return nil
}

// tags returns the names of the tags of templates, by the templates' ids.
func (s Store) tags(ctx context.Context, orgID string) (map[string][]string, error) {
	rows, err := engine.List[row](ctx, s.db, tagsOfBundle, orgID)
	names := map[string][]string{}
	for _, r := range rows {
		names[r.TemplateID] = append(names[r.TemplateID], r.Name)
	}
	return names, err
}

// addTo adds the definition in a row to a set, and returns its key.
func (r row) addTo(set *definitions.Set, kind definitions.Kind, tags map[string][]string) (key string, err error) {
	switch kind {
	case definitions.KindAttribute:
		a := definitions.Attribute{Name: r.Name, Type: r.Type, Description: r.Description}
		if r.EnumValues != "" {
			err = json.Unmarshal([]byte(r.EnumValues), &a.EnumValues)
		}
		set.Attributes = append(set.Attributes, a)
		return a.Name, err
	case definitions.KindActivityProperty:
		p := definitions.ActivityProperty{Activity: r.Activity, Property: r.Property, Type: r.Type, Description: r.Description}
		set.ActivityProperties = append(set.ActivityProperties, p)
		return p.Key(), nil
	case definitions.KindList:
		set.Lists = append(set.Lists, definitions.List{Key: r.Key, Name: r.Name, Description: r.Description})
		return r.Key, nil
	case definitions.KindSegment:
		set.Segments = append(set.Segments, definitions.Segment{Key: r.Key, Name: r.Name, Description: r.Description, Predicate: r.Source})
		return r.Key, nil
	case definitions.KindTopic:
		set.Topics = append(set.Topics, definitions.Topic{Name: r.Name, DisplayName: r.DisplayName, Description: r.Description, Default: r.Default})
		return r.Name, nil
	case definitions.KindTemplate:
		t := definitions.Template{Key: r.Slug, Subject: r.Subject, HTML: r.HTML, Text: r.Text, Topic: r.Topic, Tags: tags[r.ID]}
		if r.TestData != "" {
			err = json.Unmarshal([]byte(r.TestData), &t.TestData)
		}
		for name, values := range t.TestData {
			t.TestData[name] = manifest.Canonical(values)
		}
		if r.Number > 0 {
			set.Templates = append(set.Templates, t)
		}
		return t.Key, err
	default:
		set.Workflows = append(set.Workflows, definitions.Workflow{Key: r.Key, Source: r.Source})
		return r.Key, nil
	}
}
