package storage

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/audience"
)

type listRow struct {
	ID          string          `db:"id"`
	Key         string          `db:"key"`
	Name        string          `db:"name"`
	Description string          `db:"description"`
	Source      string          `db:"source"`
	MemberCount int             `db:"member_count"`
	Origin      audience.Origin `db:"origin"`
	SourcePath  string          `db:"source_path"`
	Status      string          `db:"status"`
	CreatedAt   Time            `db:"created_at"`
	UpdatedAt   Time            `db:"updated_at"`
}

type listRefRow struct {
	ID   string `db:"id"`
	Key  string `db:"key"`
	Name string `db:"name"`
}

var (
	insertList = register("insert list", `
		INSERT INTO lists (org_id, id, key, name, description, search, source, origin, source_path, status, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT DO NOTHING`)
	listsPage = register("lists page", `
		SELECT l.id, l.key, l.name, l.description, l.source, l.origin, l.source_path, l.status, l.created_at, l.updated_at,
			(SELECT count(*) FROM list_members AS m WHERE m.org_id = l.org_id AND m.list_id = l.id) AS member_count
		FROM lists AS l
		WHERE l.org_id = $1 AND l.status = 'active' AND (l.created_at, l.id) < ($2, $3) AND l.search LIKE $4 ESCAPE '\'
		ORDER BY l.created_at DESC, l.id DESC LIMIT $5`)
	countLists = register("count lists", `
		SELECT count(*) FROM lists WHERE org_id = $1 AND status = 'active' AND search LIKE $2 ESCAPE '\'`)
	listsByRef = register("lists by ref", `
		SELECT l.id, l.key, l.name FROM lists AS l
		WHERE l.org_id = $1 AND l.status = 'active'
		AND (l.id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)
			OR l.key IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j))
		ORDER BY l.key`)

	contactLists = registerPoint("lists of a contact", `
		SELECT l.id, l.key, l.name FROM list_members AS m
		JOIN lists AS l ON l.org_id = m.org_id AND l.id = m.list_id
		WHERE m.org_id = $1 AND m.contact_id = $2 ORDER BY l.key`)
	leaveLists = register("leave lists", `
		DELETE FROM list_members WHERE org_id = $1 AND contact_id = $2
		AND list_id NOT IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)
		RETURNING list_id`)
	// Joining goes through the rows of both sides, so that neither a list nor a
	// contact of another organization can be joined.
	joinLists = register("join lists", `
		INSERT INTO list_members (org_id, list_id, contact_id, added_at)
		SELECT l.org_id, l.id, c.id, CAST($1 AS bigint) FROM lists AS l
		JOIN contacts AS c ON c.org_id = l.org_id AND c.id = $2
		WHERE l.org_id = $3 AND l.id IN (SELECT j.atom FROM json_each(CAST($4 AS text)) AS j)
		ON CONFLICT DO NOTHING
		RETURNING list_id`)
)

func (s audienceStore) InsertList(ctx context.Context, orgID string, l audience.List) error {
	taken := core.Conflict("A list of this organization has this key already.", "Choose another key.")
	return s.db.insert(ctx, taken, insertList, orgID, l.ID, l.Key, l.Name, l.Description, searchText(l.Name, l.Key),
		l.Source, string(l.Origin), l.SourcePath, l.Status, At(l.CreatedAt), At(l.UpdatedAt))
}

func (s audienceStore) Lists(ctx context.Context, orgID string, f audience.ListFilter) ([]audience.List, error) {
	created, id := start(f.After)
	rows, err := list[listRow](ctx, s.db, listsPage, orgID, created, id, searchPattern(f.Query), f.Limit)
	if err != nil {
		return nil, err
	}
	lists := make([]audience.List, len(rows))
	for i, r := range rows {
		lists[i] = audience.List{
			ID: r.ID, Key: r.Key, Name: r.Name, Description: r.Description, Source: r.Source, MemberCount: r.MemberCount,
			Origin: r.Origin, SourcePath: r.SourcePath, Status: r.Status,
			CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
		}
	}
	return lists, nil
}

func (s audienceStore) CountLists(ctx context.Context, orgID, query string) (int, error) {
	counts, err := values[int](ctx, s.db, countLists, orgID, searchPattern(query))
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

func (s audienceStore) ListsByRef(ctx context.Context, orgID string, refs []string) ([]audience.ListRef, error) {
	parameter, err := jsonParameter(refs)
	if err != nil {
		return nil, err
	}
	return s.listRefs(ctx, listsByRef, orgID, parameter)
}

func (s audienceStore) ContactLists(ctx context.Context, orgID, contactID string) ([]audience.ListRef, error) {
	return s.listRefs(ctx, contactLists, orgID, contactID)
}

func (s audienceStore) listRefs(ctx context.Context, by *Statement, args ...any) ([]audience.ListRef, error) {
	rows, err := list[listRefRow](ctx, s.db, by, args...)
	if err != nil {
		return nil, err
	}
	refs := make([]audience.ListRef, len(rows))
	for i, r := range rows {
		refs[i] = audience.ListRef(r)
	}
	return refs, nil
}

func (s audienceStore) ReplaceMembership(ctx context.Context, orgID, contactID string, listIDs []string, at time.Time) ([]string, []string, error) {
	parameter, err := jsonParameter(listIDs)
	if err != nil {
		return nil, nil, err
	}
	var left, joined []string
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		if left, err = values[string](ctx, s.db, leaveLists, orgID, contactID, parameter); err != nil {
			return err
		}
		joined, err = values[string](ctx, s.db, joinLists, At(at), contactID, orgID, parameter)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(left)
	slices.Sort(joined)
	return left, joined, nil
}

// searchText holds name and key on lines of their own, so that no match reaches
// from one into the other.
func searchText(name, key string) string { return strings.ToLower(name + "\n" + key) }

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// searchPattern is the LIKE pattern that finds query anywhere in a searchText.
func searchPattern(query string) string {
	return "%" + likeEscaper.Replace(strings.ToLower(query)) + "%"
}
