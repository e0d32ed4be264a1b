package contactimport

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores uploads.
type Store struct{ db *engine.DB }

var _ contactupload.Store = Store{}

// New returns the store of uploads on the database.
func New(db *engine.DB) Store { return Store{db} }

// uploadColumns lists the columns of an upload that are read. listColumns are those for a
// list, without the columns that can be long.
const (
	uploadColumns = listColumns + `, sample, settings`
	listColumns   = `id, file_name, uploaded_by, size, status, checked, imported, problem, attempts, created_at, completed_at, claimed_by, claimed_until`
)

var (
	insertUpload = engine.Register("insert contact upload", `
		INSERT INTO contact_uploads (org_id, id, file_name, uploaded_by, size, status, sample, settings, checked, imported, problem, attempts, created_at, claimed_by, claimed_until)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 0)`)
	updateUpload = engine.Register("update contact upload", `
		UPDATE contact_uploads SET size = $1, status = $2, sample = $3, settings = $4, checked = $5, imported = $6, problem = $7,
			attempts = $8, completed_at = $9, claimed_by = $10, claimed_until = $11
		WHERE org_id = $12 AND id = $13`)
	// deleteUpload deletes an upload. A foreign key deletes its chunks.
	deleteUpload = engine.Register("delete contact upload", `DELETE FROM contact_uploads WHERE org_id = $1 AND id = $2`)
	uploadByID   = engine.RegisterPoint("contact upload by id", `SELECT `+uploadColumns+` FROM contact_uploads WHERE org_id = $1 AND id = $2`)
	// lockUpload locks the upload on PostgreSQL. SQLite needs no lock, because it has one
	// writer at a time.
	lockUpload = engine.Register("lock contact upload", `SELECT `+uploadColumns+` FROM contact_uploads WHERE org_id = $1 AND id = $2 /*pg FOR UPDATE*/`)
	// newestUploads selects uploads, newest first, through the index contact_uploads_newest.
	newestUploads = engine.Register("newest contact uploads", `
		SELECT `+listColumns+` FROM contact_uploads WHERE org_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2`)
	// workingUploads selects uploads through the partial index contact_uploads_working.
	workingUploads = engine.Register("working contact uploads", `
		SELECT id, status, claimed_by FROM contact_uploads
		WHERE org_id = $1 AND status IN ('receiving', 'checking', 'importing') ORDER BY created_at, id`)
	claimUpload = engine.Register("claim contact upload", `
		UPDATE contact_uploads SET claimed_by = $1, claimed_until = $2, attempts = attempts + 1
		WHERE org_id = $3 AND id = $4 AND status IN ('checking', 'importing') AND (claimed_until <= $5 OR claimed_by <> '' AND claimed_by = $6)`)
)

// uploadRow is a row of contact_uploads. Sample, Settings, Checked and Imported are JSON. In
// a list Sample and Settings are "".
type uploadRow struct {
	ID           string                     `db:"id"`
	FileName     string                     `db:"file_name"`
	UploadedBy   string                     `db:"uploaded_by"`
	Size         int64                      `db:"size"`
	Status       contactupload.UploadStatus `db:"status"`
	Sample       string                     `db:"sample"`
	Settings     string                     `db:"settings"`
	Checked      string                     `db:"checked"`
	Imported     string                     `db:"imported"`
	Problem      string                     `db:"problem"`
	Attempts     int                        `db:"attempts"`
	CreatedAt    engine.Time                `db:"created_at"`
	CompletedAt  *engine.Time               `db:"completed_at"`
	ClaimedBy    string                     `db:"claimed_by"`
	ClaimedUntil engine.Time                `db:"claimed_until"`
}

// workRow is a row of contact_uploads with the columns of a contactupload.Work.
type workRow struct {
	ID        string                     `db:"id"`
	Status    contactupload.UploadStatus `db:"status"`
	ClaimedBy string                     `db:"claimed_by"`
}

// upload converts the row to a contactupload.Upload. It fails if a JSON column does not
// parse.
func (r uploadRow) upload() (contactupload.Upload, error) {
	u := contactupload.Upload{
		ID: r.ID, FileName: r.FileName, UploadedBy: r.UploadedBy, Size: r.Size, Status: r.Status, Problem: r.Problem, Attempts: r.Attempts,
		CreatedAt: r.CreatedAt.Time(), CompletedAt: engine.OptionalTime(r.CompletedAt), ClaimedBy: r.ClaimedBy, ClaimedUntil: r.ClaimedUntil.Time(),
	}
	var sample sampleJSON
	var settings settingsJSON
	for text, to := range map[*string]any{&r.Sample: &sample, &r.Settings: &settings, &r.Checked: &u.Check, &r.Imported: &u.Import} {
		if *text == "" {
			continue // not selected
		}
		if err := json.Unmarshal([]byte(*text), to); err != nil {
			return u, fmt.Errorf("storage: contact upload %s: %w", r.ID, err)
		}
	}
	u.Sample, u.Settings, u.ImportedBy, u.Run = sample.Sample, settings.Settings, settings.ImportedBy, settings.Run
	if sample.Preview != nil {
		u.Check.Preview = sample.Preview
	}
	return u, nil
}

// sampleJSON is the content of the column sample: what is known of the first rows. It has
// the preview of the check, so that a list reads counts without previews.
type sampleJSON struct {
	contactfile.Sample
	Preview []contactupload.PreviewRow `json:"preview,omitempty"`
}

// settingsJSON is the content of the column settings: what people have decided, and the id
// of the run that they have started.
type settingsJSON struct {
	contactupload.Settings
	ImportedBy string `json:"imported_by,omitempty"`
	Run        string `json:"run,omitempty"`
}

// encode returns the JSON columns of an upload: sample, settings, checked and imported.
func encode(u contactupload.Upload) ([4]string, error) {
	var texts [4]string
	sample := sampleJSON{u.Sample, u.Check.Preview}
	u.Check.Preview = nil
	for i, value := range []any{sample, settingsJSON{u.Settings, u.ImportedBy, u.Run}, u.Check, u.Import} {
		text, err := json.Marshal(value)
		if err != nil {
			return texts, fmt.Errorf("storage: contact upload %s: %w", u.ID, err)
		}
		texts[i] = string(text)
	}
	return texts, nil
}

func (s Store) InsertUpload(ctx context.Context, orgID string, u contactupload.Upload) error {
	texts, err := encode(u)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, insertUpload, orgID, u.ID, u.FileName, u.UploadedBy, u.Size, string(u.Status), texts[0], texts[1], texts[2], texts[3],
		u.Problem, u.Attempts, engine.At(u.CreatedAt), u.ClaimedBy)
	return err
}

func (s Store) UpdateUpload(ctx context.Context, orgID string, u contactupload.Upload) error {
	texts, err := encode(u)
	if err != nil {
		return err
	}
	claimed := engine.Time(0)
	if !u.ClaimedUntil.IsZero() {
		claimed = engine.At(u.ClaimedUntil)
	}
	return s.db.Change(ctx, "upload", updateUpload, u.Size, string(u.Status), texts[0], texts[1], texts[2], texts[3], u.Problem,
		u.Attempts, engine.OptionalAt(u.CompletedAt), u.ClaimedBy, claimed, orgID, u.ID)
}

func (s Store) DeleteUpload(ctx context.Context, orgID, id string) error {
	return s.db.Change(ctx, "upload", deleteUpload, orgID, id)
}

func (s Store) Upload(ctx context.Context, orgID, id string) (contactupload.Upload, error) {
	row, err := engine.One[uploadRow](ctx, s.db, "upload", s.db.LockedInside(ctx, uploadByID, lockUpload), orgID, id)
	if err != nil {
		return contactupload.Upload{}, err
	}
	return row.upload()
}

func (s Store) Uploads(ctx context.Context, orgID string, limit int) ([]contactupload.Upload, error) {
	rows, err := engine.List[uploadRow](ctx, s.db, newestUploads, orgID, limit)
	if err != nil {
		return nil, err
	}
	all := make([]contactupload.Upload, len(rows))
	for i, row := range rows {
		if all[i], err = row.upload(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s Store) WorkingUploads(ctx context.Context, orgID string) ([]contactupload.Work, error) {
	rows, err := engine.List[workRow](ctx, s.db, workingUploads, orgID)
	working := make([]contactupload.Work, len(rows))
	for i, row := range rows {
		working[i] = contactupload.Work{ID: row.ID, Status: row.Status, Process: row.ClaimedBy}
	}
	return working, err
}

func (s Store) ClaimUpload(ctx context.Context, orgID, id string, c contactupload.Claim) (bool, error) {
	n, err := s.db.Exec(ctx, claimUpload, c.Process, engine.At(c.Until), orgID, id, engine.At(c.Now), c.Instead)
	return n == 1, err
}

// errNoChunk is the error for a position after the last chunk.
var errNoChunk = core.NotFound("chunk")
