package assets

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores the records of images.
type Store struct{ db *engine.DB }

var (
	_ assets.Store       = Store{}
	_ assets.PublicStore = Store{}
)

// New returns the store of images on the database.
func New(db *engine.DB) Store { return Store{db} }

// assetColumns lists the columns of an image with its content. The tables are a and c.
const assetColumns = `a.id, a.source_path, a.hash, a.branch, a.created_at, c.content_type, c.width, c.height, c.size_bytes
	FROM assets AS a JOIN asset_contents AS c ON c.org_id = a.org_id AND c.hash = a.hash`

// currentColumns lists the columns of a currentRow.
const currentColumns = `a.source_path, a.hash, a.origin, c.size_bytes, c.store_id
	FROM assets AS a JOIN asset_contents AS c ON c.org_id = a.org_id AND c.hash = a.hash`

var (
	contents = engine.Register("asset contents", `
		SELECT hash, content_type, width, height, size_bytes, store_id, created_at FROM asset_contents
		WHERE org_id = $1 AND hash IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
	// addContents needs its rows in the order of the primary key, so that concurrent additions
	// lock rows in the same order.
	addContents = engine.Register("add asset contents", `
		INSERT INTO asset_contents (org_id, hash, content_type, width, height, size_bytes, store_id, created_at)
		SELECT CAST($1 AS text), v ->> 'hash', v ->> 'type', CAST(v ->> 'width' AS bigint), CAST(v ->> 'height' AS bigint),
			CAST(v ->> 'size' AS bigint), v ->> 'store', CAST(v ->> 'created' AS bigint)
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE ORDER BY 2
		ON CONFLICT (org_id, hash) DO NOTHING`)
	// saveAssets needs its rows in the order of the paths, for the reason of addContents.
	saveAssets = engine.Register("save assets", `
		INSERT INTO assets (org_id, id, source_path, hash, branch, origin, status, created_at, updated_at)
		SELECT CAST($1 AS text), v ->> 'id', v ->> 'path', v ->> 'hash', v ->> 'branch', v ->> 'origin', 'active',
			CAST(v ->> 'at' AS bigint), CAST(v ->> 'at' AS bigint)
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE ORDER BY 3
		ON CONFLICT (org_id, source_path) DO UPDATE SET hash = excluded.hash, branch = excluded.branch, origin = excluded.origin,
			status = excluded.status, updated_at = excluded.updated_at
		WHERE (assets.hash, assets.branch, assets.origin, assets.status) <> (excluded.hash, excluded.branch, excluded.origin, excluded.status)`)
	archiveAssets = engine.Register("archive assets", `
		UPDATE assets SET status = 'archived', updated_at = $1
		WHERE org_id = $2 AND status = 'active' AND source_path IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`)
	// assetsPage reads images in the order of their paths, through the unique index, after the
	// path of the image $2. Without such an image it reads from the start.
	assetsPage = engine.Register("assets page", `
		SELECT `+assetColumns+`
		WHERE a.org_id = $1 AND a.status = 'active'
		AND a.source_path > COALESCE((SELECT b.source_path FROM assets AS b WHERE b.org_id = $1 AND b.id = $2), '')
		ORDER BY a.source_path LIMIT $3`)
	assetByID = engine.RegisterPoint("asset", `
		SELECT `+assetColumns+` WHERE a.org_id = $1 AND a.id = $2 AND a.status = 'active'`)
	currentAssets = engine.Register("current assets", `
		SELECT `+currentColumns+` WHERE a.org_id = $1 AND a.status = 'active' ORDER BY a.source_path`)
	assetsAt = engine.Register("assets at paths", `
		SELECT `+currentColumns+` WHERE a.org_id = $1 AND a.source_path IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)

	// publicContents reads through the index asset_contents_by_hash.
	publicContents = engine.RegisterPoint("public asset contents", `
		SELECT org_id, hash, content_type, width, height, size_bytes, store_id, created_at FROM asset_contents
		WHERE hash = $1 ORDER BY created_at, org_id LIMIT $2`)
)

// contentRow is a content.
type contentRow struct {
	Hash      string      `db:"hash"`
	Type      string      `db:"content_type"`
	Width     int         `db:"width"`
	Height    int         `db:"height"`
	SizeBytes int         `db:"size_bytes"`
	StoreID   string      `db:"store_id"`
	CreatedAt engine.Time `db:"created_at"`
}

// ownedRow is a content of any organization.
type ownedRow struct {
	OrgID string `db:"org_id"`
	contentRow
}

// assetRow is an image with its content.
type assetRow struct {
	ID         string      `db:"id"`
	SourcePath string      `db:"source_path"`
	Hash       string      `db:"hash"`
	Branch     string      `db:"branch"`
	CreatedAt  engine.Time `db:"created_at"`
	Type       string      `db:"content_type"`
	Width      int         `db:"width"`
	Height     int         `db:"height"`
	SizeBytes  int         `db:"size_bytes"`
}

// currentRow is the content at a path.
type currentRow struct {
	Path      string      `db:"source_path"`
	Hash      string      `db:"hash"`
	Origin    core.Origin `db:"origin"`
	SizeBytes int         `db:"size_bytes"`
	StoreID   string      `db:"store_id"`
}

// contentElement is an element of the JSON parameter of addContents.
type contentElement struct {
	Hash    string      `json:"hash"`
	Type    string      `json:"type"`
	Width   int         `json:"width"`
	Height  int         `json:"height"`
	Size    int         `json:"size"`
	Store   string      `json:"store"`
	Created engine.Time `json:"created"`
}

// savedElement is an element of the JSON parameter of saveAssets.
type savedElement struct {
	ID     string      `json:"id"`
	Path   string      `json:"path"`
	Hash   string      `json:"hash"`
	Branch string      `json:"branch"`
	Origin core.Origin `json:"origin"`
	At     engine.Time `json:"at"`
}

func (r contentRow) content() assets.Content {
	return assets.Content{
		Hash: r.Hash, Type: r.Type, Width: r.Width, Height: r.Height, SizeBytes: r.SizeBytes, StoreID: r.StoreID, CreatedAt: r.CreatedAt.Time(),
	}
}

func (r assetRow) detail() assets.Detail {
	return assets.Detail{Branch: r.Branch, Asset: assets.Asset{
		ID: r.ID, SourcePath: r.SourcePath, ContentHash: r.Hash, ContentType: r.Type, Width: r.Width, Height: r.Height, SizeBytes: r.SizeBytes, CreatedAt: r.CreatedAt.Time(),
	}}
}

func (r currentRow) current() assets.Current { return assets.Current(r) }

func (s Store) Contents(ctx context.Context, orgID string, hashes []string) ([]assets.Content, error) {
	parameter, err := engine.JSONParameter(hashes)
	if err != nil {
		return nil, err
	}
	return engine.ListAs(ctx, s.db, contentRow.content, contents, orgID, parameter)
}

func (s Store) PublicContents(ctx context.Context, hash string, limit int) ([]assets.Owned, error) {
	return engine.ListAs(ctx, s.db, func(r ownedRow) assets.Owned {
		return assets.Owned{OrgID: r.OrgID, Content: r.content()}
	}, publicContents, hash, limit)
}

func (s Store) AddContents(ctx context.Context, orgID string, all []assets.Content) error {
	rows := make([]contentElement, len(all))
	for i, c := range all {
		rows[i] = contentElement{c.Hash, c.Type, c.Width, c.Height, c.SizeBytes, c.StoreID, engine.At(c.CreatedAt)}
	}
	slices.SortFunc(rows, func(a, b contentElement) int { return strings.Compare(a.Hash, b.Hash) })
	return engine.ExecRows(ctx, s.db, addContents, orgID, rows)
}

func (s Store) SaveAssets(ctx context.Context, orgID string, all []assets.Saved, at time.Time) error {
	rows := make([]savedElement, len(all))
	for i, a := range all {
		rows[i] = savedElement{a.ID, a.Path, a.Hash, a.Branch, a.Origin, engine.At(at)}
	}
	slices.SortFunc(rows, func(a, b savedElement) int { return strings.Compare(a.Path, b.Path) })
	return engine.ExecRows(ctx, s.db, saveAssets, orgID, rows)
}

func (s Store) ArchiveAssets(ctx context.Context, orgID string, paths []string, at time.Time) error {
	parameter, err := engine.JSONParameter(paths)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, archiveAssets, engine.At(at), orgID, parameter)
	return err
}

func (s Store) AssetsPage(ctx context.Context, orgID, after string, limit int) ([]assets.Detail, error) {
	return engine.ListAs(ctx, s.db, assetRow.detail, assetsPage, orgID, after, limit)
}

func (s Store) Asset(ctx context.Context, orgID, id string) (assets.Detail, error) {
	row, err := engine.One[assetRow](ctx, s.db, "image", assetByID, orgID, id)
	return row.detail(), err
}

func (s Store) CurrentAssets(ctx context.Context, orgID string) ([]assets.Current, error) {
	return engine.ListAs(ctx, s.db, currentRow.current, currentAssets, orgID)
}

func (s Store) AssetsAt(ctx context.Context, orgID string, paths []string) ([]assets.Current, error) {
	parameter, err := engine.JSONParameter(paths)
	if err != nil {
		return nil, err
	}
	return engine.ListAs(ctx, s.db, currentRow.current, assetsAt, orgID, parameter)
}
