package contactimport

import (
	"context"

	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// writeChunk inserts nothing if the upload does not exist. On PostgreSQL it locks the
	// upload, because another process may be deleting it.
	writeChunk = engine.Register("write contact upload chunk", `
		INSERT INTO contact_upload_chunks (org_id, upload_id, kind, position, content)
		SELECT u.org_id, u.id, $1, $2, $3 FROM contact_uploads AS u WHERE u.org_id = $4 AND u.id = $5 /*pg FOR KEY SHARE OF u*/
		ON CONFLICT (org_id, upload_id, kind, position) DO UPDATE SET content = excluded.content`)
	// chunkFrom selects the first chunk at a position or after it, by primary key.
	chunkFrom = engine.RegisterPoint("contact upload chunk", `
		SELECT position, content FROM contact_upload_chunks
		WHERE org_id = $1 AND upload_id = $2 AND kind = $3 AND position >= $4 ORDER BY position LIMIT 1`)
	deleteChunks = engine.Register("delete contact upload chunks", `
		DELETE FROM contact_upload_chunks WHERE org_id = $1 AND upload_id = $2 AND kind = $3`)
	// countFiles counts the uploads that are being received or whose first chunk of the file
	// is stored.
	countFiles = engine.Register("count contact upload files", `
		SELECT count(*) FROM contact_uploads AS u
		WHERE u.org_id = $1 AND (u.status = 'receiving' OR EXISTS (SELECT 1 FROM contact_upload_chunks AS c
			WHERE c.org_id = u.org_id AND c.upload_id = u.id AND c.kind = 'file' AND c.position = 0))`)
	// holdFiles makes transactions that count the files of an organization wait for each
	// other. SQLite needs no lock, because it has one writer at a time.
	holdFiles = engine.Register("hold contact upload files", `
		SELECT 1 WHERE CAST($1 AS text) <> '' /*pg AND CAST(pg_advisory_xact_lock(hashtextextended($1, 30)) AS text) = ''*/`)
	// purgeChunks deletes the chunks of one kind of uploads that are older than $3 and that
	// no job works on.
	purgeChunks = engine.Register("purge contact upload chunks", `
		DELETE FROM contact_upload_chunks WHERE org_id = $1 AND kind = $2 AND upload_id IN (
			SELECT u.id FROM contact_uploads AS u WHERE u.org_id = $1 AND u.created_at < $3 AND u.status NOT IN ('checking', 'importing'))`)
	purgeReceiving = engine.Register("purge unfinished contact uploads", `
		DELETE FROM contact_uploads WHERE org_id = $1 AND status = 'receiving' AND created_at < $2`)
	purgeUploads = engine.Register("purge contact uploads", `
		DELETE FROM contact_uploads WHERE org_id = $1 AND created_at < $2 AND status NOT IN ('checking', 'importing')`)
)

// chunkRow is a chunk with its position.
type chunkRow struct {
	Position int    `db:"position"`
	Content  []byte `db:"content"`
}

func (s Store) WriteChunk(ctx context.Context, orgID, id string, kind contactupload.ChunkKind, position int, content []byte) error {
	return s.db.Change(ctx, "upload", writeChunk, string(kind), position, content, orgID, id)
}

func (s Store) Chunk(ctx context.Context, orgID, id string, kind contactupload.ChunkKind, position int) ([]byte, int, error) {
	rows, err := engine.List[chunkRow](ctx, s.db, chunkFrom, orgID, id, string(kind), position)
	if err != nil {
		return nil, 0, err
	}
	if len(rows) == 0 {
		return nil, 0, errNoChunk
	}
	return rows[0].Content, rows[0].Position, nil
}

func (s Store) DeleteChunks(ctx context.Context, orgID, id string, kind contactupload.ChunkKind) error {
	_, err := s.db.Exec(ctx, deleteChunks, orgID, id, string(kind))
	return err
}

func (s Store) CountFiles(ctx context.Context, orgID string) (int, error) {
	if s.db.InTransaction(ctx) {
		if _, err := engine.Values[int](ctx, s.db, holdFiles, orgID); err != nil {
			return 0, err
		}
	}
	counts, err := engine.Values[int](ctx, s.db, countFiles, orgID)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

func (s Store) PurgeUploads(ctx context.Context, orgID string, before contactupload.Retention) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if _, err := s.db.Exec(ctx, purgeChunks, orgID, string(contactupload.FileChunk), engine.At(before.Files)); err != nil {
			return err
		}
		if _, err := s.db.Exec(ctx, purgeChunks, orgID, string(contactupload.RejectedChunk), engine.At(before.Rejected)); err != nil {
			return err
		}
		if _, err := s.db.Exec(ctx, purgeReceiving, orgID, engine.At(before.Receiving)); err != nil {
			return err
		}
		_, err := s.db.Exec(ctx, purgeUploads, orgID, engine.At(before.All))
		return err
	})
}
