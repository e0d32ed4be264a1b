package tags

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores tags.
type Store struct{ db *engine.DB }

var _ tags.Store = Store{}

// New returns the store of tags on the database.
func New(db *engine.DB) Store { return Store{db} }

// tagRow is a tag with the numbers of its uses.
type tagRow struct {
	ID         string      `db:"id"`
	Name       string      `db:"name"`
	Color      string      `db:"color"`
	CreatedAt  engine.Time `db:"created_at"`
	Broadcasts int         `db:"broadcast_count"`
	Templates  int         `db:"template_count"`
}

// refRow is a tag of one object.
type refRow struct {
	Object string `db:"object_id"`
	ID     string `db:"id"`
	Name   string `db:"name"`
	Color  string `db:"color"`
}

// tagColumns lists the columns of a tag with the alias t. It counts the uses of each tag
// through the indexes template_tags_by_tag and broadcast_tags_by_tag.
const tagColumns = `t.id, t.name, t.color, t.created_at,
	(SELECT count(*) FROM broadcast_tags AS b WHERE b.org_id = t.org_id AND b.tag_id = t.id) AS broadcast_count,
	(SELECT count(*) FROM template_tags AS u WHERE u.org_id = t.org_id AND u.tag_id = t.id) AS template_count`

var (
	// tagsPage selects a page of tags after the cursor, newest first, through the index
	// tags_newest.
	tagsPage = engine.Register("tags page", `
		SELECT `+tagColumns+` FROM tags AS t
		WHERE t.org_id = $1 AND (t.created_at, t.id) < ($2, $3)
		ORDER BY t.created_at DESC, t.id DESC LIMIT $4`)
	tagByID   = engine.RegisterPoint("tag", `SELECT `+tagColumns+` FROM tags AS t WHERE t.org_id = $1 AND t.id = $2`)
	countTags = engine.Register("count tags", `SELECT count(*) FROM tags WHERE org_id = $1`)
	insertTag = engine.Register("insert tag", `
		INSERT INTO tags (org_id, id, name, color, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`)
	// updateTag renames a tag, unless another tag has the name.
	updateTag = engine.Register("update tag", `
		UPDATE tags SET name = $1, color = $2 WHERE org_id = $3 AND id = $4
		AND NOT EXISTS (SELECT 1 FROM tags AS other WHERE other.org_id = $3 AND other.name = $1 AND other.id <> $4)`)
	// deleteTag deletes a tag. Foreign keys remove it from templates and broadcasts.
	deleteTag = engine.Register("delete tag", `DELETE FROM tags WHERE org_id = $1 AND id = $2`)

	clearTemplateTags  = engine.Register("clear tags of template", OfTemplates.clear())
	setTemplateTags    = engine.Register("set tags of template", OfTemplates.set())
	tagsOfTemplates    = engine.Register("tags of templates", OfTemplates.list())
	clearBroadcastTags = engine.Register("clear tags of broadcast", OfBroadcasts.clear())
	setBroadcastTags   = engine.Register("set tags of broadcast", OfBroadcasts.set())
	tagsOfBroadcasts   = engine.Register("tags of broadcasts", OfBroadcasts.list())
)

func (r tagRow) tag() tags.Tag {
	return tags.Tag{ID: r.ID, Name: r.Name, Color: r.Color, BroadcastCount: r.Broadcasts, TemplateCount: r.Templates, CreatedAt: r.CreatedAt.Time()}
}

// nameTaken is the error for a name that another tag has.
func nameTaken() *core.Error {
	return core.Conflict("A tag of this organization has this name already.", "Choose another name.")
}

func (s Store) Tags(ctx context.Context, orgID string, after *core.After, limit int) ([]tags.Tag, error) {
	created, id := engine.PageStart(after)
	return engine.ListAs(ctx, s.db, tagRow.tag, tagsPage, orgID, created, id, limit)
}

func (s Store) Tag(ctx context.Context, orgID, id string) (tags.Tag, error) {
	row, err := engine.One[tagRow](ctx, s.db, "tag", tagByID, orgID, id)
	return row.tag(), err
}

func (s Store) CountTags(ctx context.Context, orgID string) (int, error) {
	counts, err := engine.Values[int](ctx, s.db, countTags, orgID)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

func (s Store) InsertTag(ctx context.Context, orgID string, t tags.Tag) error {
	return s.db.Insert(ctx, nameTaken(), insertTag, orgID, t.ID, t.Name, t.Color, engine.At(t.CreatedAt))
}

func (s Store) UpdateTag(ctx context.Context, orgID string, t tags.Tag) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		changed, err := s.db.Exec(ctx, updateTag, t.Name, t.Color, orgID, t.ID)
		if err != nil || changed > 0 {
			return err
		}
		if _, err := s.Tag(ctx, orgID, t.ID); err != nil {
			return err
		}
		return nameTaken()
	})
}

func (s Store) DeleteTag(ctx context.Context, orgID, id string) error {
	return s.db.Change(ctx, "tag", deleteTag, orgID, id)
}

func (s Store) SetTemplateTags(ctx context.Context, orgID, templateID string, tagIDs []string) error {
	return s.replace(ctx, clearTemplateTags, setTemplateTags, orgID, templateID, tagIDs)
}

func (s Store) SetBroadcastTags(ctx context.Context, orgID, broadcastID string, tagIDs []string) error {
	return s.replace(ctx, clearBroadcastTags, setBroadcastTags, orgID, broadcastID, tagIDs)
}

// replace replaces the tags of one object by the two statements.
func (s Store) replace(ctx context.Context, clearOld, setNew *engine.Statement, orgID, objectID string, tagIDs []string) error {
	parameter, err := engine.EncodeTexts(tagIDs)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if _, err := s.db.Exec(ctx, clearOld, orgID, objectID); err != nil {
			return err
		}
		_, err := s.db.Exec(ctx, setNew, objectID, orgID, parameter)
		return err
	})
}

func (s Store) TagsOfTemplates(ctx context.Context, orgID string, templateIDs []string) (map[string][]tags.Ref, error) {
	return s.list(ctx, tagsOfTemplates, orgID, templateIDs)
}

func (s Store) TagsOfBroadcasts(ctx context.Context, orgID string, broadcastIDs []string) (map[string][]tags.Ref, error) {
	return s.list(ctx, tagsOfBroadcasts, orgID, broadcastIDs)
}

// list returns the tags of objects by the objects' ids.
func (s Store) list(ctx context.Context, query *engine.Statement, orgID string, objectIDs []string) (map[string][]tags.Ref, error) {
	parameter, err := engine.EncodeTexts(objectIDs)
	if err != nil {
		return nil, err
	}
	rows, err := engine.List[refRow](ctx, s.db, query, orgID, parameter)
	if err != nil {
		return nil, err
	}
	byObject := map[string][]tags.Ref{}
	for _, r := range rows {
		byObject[r.Object] = append(byObject[r.Object], tags.Ref{ID: r.ID, Name: r.Name, Color: r.Color})
	}
	return byObject, nil
}
