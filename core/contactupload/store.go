package contactupload

import (
	"context"
	"time"
)

// ChunkKind says which file of an upload a chunk belongs to.
type ChunkKind string

// The kinds of chunks: of the uploaded file, and of the rejected rows as CSV without a
// header.
const (
	FileChunk     ChunkKind = "file"
	RejectedChunk ChunkKind = "rejected"
)

// Store stores uploads and their files. Every method sees only the given organization
// and takes part in the transaction of its context. Methods that name an upload fail with
// core.CodeNotFound if it does not exist.
type Store interface {
	InsertUpload(ctx context.Context, orgID string, u Upload) error
	// Upload returns the upload with the id. Inside a transaction it locks the upload until
	// the transaction ends.
	Upload(ctx context.Context, orgID, id string) (Upload, error)
	// Uploads returns up to limit uploads, newest first, without Sample, Settings, Run,
	// ImportedBy and Preview.
	Uploads(ctx context.Context, orgID string, limit int) ([]Upload, error)
	// UpdateUpload replaces everything but the id, the file name, its uploader and the
	// creation time.
	UpdateUpload(ctx context.Context, orgID string, u Upload) error
	// DeleteUpload deletes an upload with its chunks.
	DeleteUpload(ctx context.Context, orgID, id string) error
	// CountFiles returns the number of uploads with chunks of an uploaded file, and of those
	// that are being received. Inside a transaction it makes other transactions that call it
	// wait until the transaction ends.
	CountFiles(ctx context.Context, orgID string) (int, error)
	// WorkingUploads returns the uploads that are being received, checked or imported, oldest
	// first.
	WorkingUploads(ctx context.Context, orgID string) ([]Work, error)
	// ClaimUpload sets the claim of an upload that is being checked or imported, and adds an
	// attempt. It reports false, and changes nothing, if the upload is in another state or
	// another claim has not ended, unless that is a claim of the process c.Instead.
	ClaimUpload(ctx context.Context, orgID, id string, c Claim) (bool, error)

	// WriteChunk stores or replaces a chunk. Positions count from 0.
	WriteChunk(ctx context.Context, orgID, id string, kind ChunkKind, position int, content []byte) error
	// Chunk returns the first chunk at the position or after it, and its position. It fails
	// with core.CodeNotFound if there is none.
	Chunk(ctx context.Context, orgID, id string, kind ChunkKind, position int) ([]byte, int, error)
	// DeleteChunks deletes all chunks of one kind of an upload.
	DeleteChunks(ctx context.Context, orgID, id string, kind ChunkKind) error
	// PurgeUploads deletes old uploads and chunks. It keeps uploads that are being checked
	// or imported.
	PurgeUploads(ctx context.Context, orgID string, before Retention) error
}

// Work is the work on one upload.
type Work struct {
	ID     string
	Status UploadStatus // Receiving, Checking or Importing
	// Process is the id of the server process that does the work or did it last, "" for none.
	Process string
}

// Claim is the claim of a server process that it works on an upload.
type Claim struct {
	Process string
	// Instead is the id of a process that has ended, whose claim this one replaces; "" for
	// none.
	Instead    string
	Now, Until time.Time
}

// Retention has, for each part of uploads, the creation time before which it is deleted.
type Retention struct {
	// Files are the chunks of uploaded files, Rejected those of rejected rows.
	Files, Rejected time.Time
	// Receiving are uploads whose transfer did not end. All are uploads of any state.
	Receiving, All time.Time
}
