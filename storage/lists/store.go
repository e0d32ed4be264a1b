package lists

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores static lists.
type Store struct{ db *engine.DB }

var _ lists.Store = Store{}

// New returns the store of lists on the database.
func New(db *engine.DB) Store { return Store{db} }

// listRow is a list with the number of its members.
type listRow struct {
	ID          string      `db:"id"`
	Key         string      `db:"key"`
	Name        string      `db:"name"`
	Description string      `db:"description"`
	Source      string      `db:"source"`
	MemberCount int         `db:"member_count"`
	Origin      core.Origin `db:"origin"`
	SourcePath  string      `db:"source_path"`
	Status      string      `db:"status"`
	CreatedAt   engine.Time `db:"created_at"`
	UpdatedAt   engine.Time `db:"updated_at"`
}

// listRefRow has the fields of lists.Ref in the same order, so that a listRefRow converts
// to a lists.Ref.
type listRefRow struct {
	ID   string `db:"id"`
	Key  string `db:"key"`
	Name string `db:"name"`
}

func (r listRefRow) ref() lists.Ref { return lists.Ref(r) }

// listColumns lists the columns of a list with the alias l. It counts the members of each
// list through the primary key of list_members.
const listColumns = `l.id, l.key, l.name, l.description, l.source, l.origin, l.source_path, l.status, l.created_at, l.updated_at,
	(SELECT count(*) FROM list_members AS m WHERE m.org_id = l.org_id AND m.list_id = l.id) AS member_count`

var (
	// insertList inserts a list. It changes nothing if another list has the same key, even
	// an archived list.
	insertList = engine.Register("insert list", `
		INSERT INTO lists (org_id, id, key, name, description, search, source, origin, source_path, status, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT DO NOTHING`)
	// updateList changes the name, the description and the search text of a list.
	updateList = engine.Register("update list", `
		UPDATE lists SET name = $1, description = $2, search = $3, updated_at = $4 WHERE org_id = $5 AND id = $6`)
	setListStatus = engine.Register("set list status", `UPDATE lists SET status = $1, updated_at = $2 WHERE org_id = $3 AND id = $4`)
	// deleteList deletes a list. A foreign key deletes its memberships; the membership log
	// keeps its entries.
	deleteList = engine.Register("delete list", `DELETE FROM lists WHERE org_id = $1 AND id = $2`)
	listByID   = engine.RegisterPoint("list by id", `SELECT `+listColumns+` FROM lists AS l WHERE l.org_id = $1 AND l.id = $2`)
	listByKey  = engine.RegisterPoint("list by key", `SELECT `+listColumns+` FROM lists AS l WHERE l.org_id = $1 AND l.key = $2`)
	// lockListByID and lockListByKey lock the list on PostgreSQL. SQLite needs no lock,
	// because it has one writer at a time.
	lockListByID  = engine.Register("lock list by id", `SELECT `+listColumns+` FROM lists AS l WHERE l.org_id = $1 AND l.id = $2 /*pg FOR UPDATE*/`)
	lockListByKey = engine.Register("lock list by key", `SELECT `+listColumns+` FROM lists AS l WHERE l.org_id = $1 AND l.key = $2 /*pg FOR UPDATE*/`)
	// listsPage selects a page of lists after the cursor, newest first, through the index
	// lists_newest. It compares the search text row by row.
	listsPage = engine.Register("lists page", `
		SELECT `+listColumns+` FROM lists AS l
		WHERE l.org_id = $1 AND l.status = 'active' AND (l.created_at, l.id) < ($2, $3) AND l.search LIKE $4 ESCAPE '\'
		ORDER BY l.created_at DESC, l.id DESC LIMIT $5`)
	countLists = engine.Register("count lists", `
		SELECT count(*) FROM lists WHERE org_id = $1 AND status = 'active' AND search LIKE $2 ESCAPE '\'`)
	// listsByRef selects active lists whose id or key is in the JSON array $2. It uses the
	// unique indexes of ids and of keys.
	listsByRef = engine.Register("lists by ref", `
		SELECT l.id, l.key, l.name FROM lists AS l
		WHERE l.org_id = $1 AND l.status = 'active'
		AND (l.id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)
			OR l.key IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j))
		ORDER BY l.key`)
)

func (s Store) InsertList(ctx context.Context, orgID string, l lists.List) error {
	taken := core.Conflict("A list of this organization has this key already.", "Choose another key.")
	return s.db.Insert(ctx, taken, insertList, orgID, l.ID, l.Key, l.Name, l.Description, engine.SearchText(l.Name, l.Key),
		l.Source, string(l.Origin), l.SourcePath, l.Status, engine.At(l.CreatedAt), engine.At(l.UpdatedAt))
}

func (s Store) UpdateList(ctx context.Context, orgID string, l lists.List) error {
	return s.db.Change(ctx, "list", updateList, l.Name, l.Description, engine.SearchText(l.Name, l.Key), engine.At(l.UpdatedAt), orgID, l.ID)
}

func (s Store) SetListStatus(ctx context.Context, orgID string, l lists.List) error {
	return s.db.Change(ctx, "list", setListStatus, l.Status, engine.At(l.UpdatedAt), orgID, l.ID)
}

func (s Store) DeleteList(ctx context.Context, orgID, id string) error {
	return s.db.Change(ctx, "list", deleteList, orgID, id)
}

// List returns the list with the reference ref. ref is an id if it has the form of one, and
// otherwise a key. Inside a transaction List locks the list.
func (s Store) List(ctx context.Context, orgID, ref string) (lists.List, error) {
	read, lock := listByKey, lockListByKey
	if core.IsID(ref) {
		read, lock = listByID, lockListByID
	}
	row, err := engine.One[listRow](ctx, s.db, "list", s.db.LockedInside(ctx, read, lock), orgID, ref)
	return row.list(), err
}

func (s Store) Lists(ctx context.Context, orgID string, f lists.Filter) ([]lists.List, error) {
	created, id := engine.PageStart(f.After)
	return engine.ListAs(ctx, s.db, listRow.list, listsPage, orgID, created, id, engine.SearchPattern(f.Query), f.Limit)
}

func (r listRow) list() lists.List {
	return lists.List{
		ID: r.ID, Key: r.Key, Name: r.Name, Description: r.Description, Source: r.Source, MemberCount: r.MemberCount,
		Origin: r.Origin, SourcePath: r.SourcePath, Status: r.Status,
		CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
	}
}

func (s Store) CountLists(ctx context.Context, orgID, query string) (int, error) {
	counts, err := engine.Values[int](ctx, s.db, countLists, orgID, engine.SearchPattern(query))
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

func (s Store) ListsByRef(ctx context.Context, orgID string, refs []string) ([]lists.Ref, error) {
	parameter, err := engine.JSONParameter(refs)
	if err != nil {
		return nil, err
	}
	return listRefs(ctx, s.db, listsByRef, orgID, parameter)
}

// listRefs returns the lists that the statement selects, in the order of the statement.
func listRefs(ctx context.Context, db *engine.DB, by *engine.Statement, args ...any) ([]lists.Ref, error) {
	return engine.ListAs(ctx, db, listRefRow.ref, by, args...)
}
