package contactimport

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// UploadConfig configures [Uploads]. All fields but MaxRejected and PartsAtOnce are required.
type UploadConfig struct {
	Store      contactupload.Store
	Contacts   Contacts
	Transactor core.Transactor
	Queue      jobs.Queue
	Processes  Processes
	Orgs       func(context.Context) ([]string, error)
	Clock      core.Clock
	Log        *slog.Logger
	// MaxRejected is the maximum number of bytes of rejected rows that are kept of an
	// upload. 0 means contactupload.MaxRejected.
	MaxRejected int
	// PartsAtOnce is the maximum number of parts of a file that are stored at the same time, 0
	// for one. In each process it is that of one upload at a time; the others store one part after
	// the other.
	PartsAtOnce int
}

// Contacts stores the rows of imports and names the registered attributes.
type Contacts interface {
	People
	AttributeNames(ctx context.Context, orgID string) ([]string, error)
}

// Processes says which server process this is, and which others have ended.
type Processes interface {
	// ID returns the id of this process.
	ID() string
	// HasEnded reports whether the process with the id has ended. It may wait a few seconds
	// for a heartbeat of that process.
	HasEnded(ctx context.Context, process string) (bool, error)
}

// Uploads imports contact files that people upload. A file and the state of its import are
// in the database, so that any process can continue an import.
type Uploads struct {
	UploadConfig
	// several is held by the upload that stores several parts at the same time.
	several sync.Mutex
}

// NewUploads returns Uploads that use the configuration.
func NewUploads(cfg UploadConfig) *Uploads { return &Uploads{UploadConfig: cfg} }

// Upload returns an upload. It fails with core.CodeNotFound if there is none.
func (u *Uploads) Upload(ctx context.Context, orgID, id string) (contactupload.Upload, error) {
	return u.Store.Upload(ctx, orgID, id)
}

// maxListed is the maximum number of uploads that Uploads returns.
const maxListed = 100

// Uploads returns the newest uploads of the organization, without unfinished transfers. An
// upload has only the fields that contactupload.Store.Uploads returns.
func (u *Uploads) Uploads(ctx context.Context, orgID string) ([]contactupload.Upload, error) {
	all, err := u.Store.Uploads(ctx, orgID, maxListed)
	return slices.DeleteFunc(all, func(one contactupload.Upload) bool { return one.Status == contactupload.Receiving }), err
}

// AttributeNames returns the names of the registered attributes, which columns may set.
func (u *Uploads) AttributeNames(ctx context.Context, orgID string) ([]string, error) {
	return u.Contacts.AttributeNames(ctx, orgID)
}

// StartCheck stores how the file is read and starts a job that checks all rows without
// changing contacts. It ends a check that is running. It fails with core.CodeValidationFailed if the columns do not fit, and
// with core.CodeConflict if the file is gone or the upload is being imported.
func (u *Uploads) StartCheck(ctx context.Context, orgID, id string, settings contactupload.Settings) error {
	return u.start(ctx, orgID, id, func(up *contactupload.Upload) error {
		if up.Status == contactupload.Importing || up.Import.Rows > 0 {
			return core.Conflict("The import of this file has started.", "Wait until it ends.")
		}
		attributes, err := u.Contacts.AttributeNames(ctx, orgID)
		if err != nil {
			return err
		}
		if err := contactfile.CheckTargets(up.Sample.Header, settings.Targets, attributes); err != nil {
			return refusedFile(err)
		}
		up.Status, up.Settings, up.Check = contactupload.Checking, settings, contactupload.Result{}
		return nil
	})
}

// StartImport starts a job that imports the checked rows, as changes by the user. check is
// the Run of the check whose result the user has seen. It fails with core.CodeConflict if
// another check was started since, if the rows were not checked, or if the file is gone.
func (u *Uploads) StartImport(ctx context.Context, orgID, userID, id, check string) error {
	return u.start(ctx, orgID, id, func(up *contactupload.Upload) error {
		if up.Status != contactupload.Checked {
			return core.Conflict("The rows of this file are not checked.", "Open its page to see its state.")
		}
		if up.Run != check {
			return core.Conflict("The file was checked again, perhaps with other columns, and nothing was imported.", "Look at the result of the new check, then start the import.")
		}
		up.Status, up.ImportedBy = contactupload.Importing, userID
		return nil
	})
}

// Stop ends an import after the parts of the file that are being stored. Rows that were
// imported before stay. It fails with core.CodeConflict if the file is not being imported.
func (u *Uploads) Stop(ctx context.Context, orgID, id string) error {
	return u.Transactor.InTx(ctx, func(ctx context.Context) error {
		up, err := u.Store.Upload(ctx, orgID, id)
		if err != nil {
			return err
		}
		if up.Status != contactupload.Importing {
			return core.Conflict("The file is not being imported.", "Open its page to see the result.")
		}
		up.Settings.Stopping = true
		return u.Store.UpdateUpload(ctx, orgID, up)
	})
}

// start changes an upload and enqueues the job of a new run, in one transaction. A run that
// is still working on the upload ends when it next stores something.
func (u *Uploads) start(ctx context.Context, orgID, id string, change func(*contactupload.Upload) error) error {
	return u.Transactor.InTx(ctx, func(ctx context.Context) error {
		up, err := u.Store.Upload(ctx, orgID, id)
		if err != nil {
			return err
		}
		if !up.HasFile(u.Clock()) {
			return core.Conflict("The file is no longer stored.", "Upload it again.")
		}
		if err := change(&up); err != nil {
			return err
		}
		up.Run, up.Problem, up.Attempts, up.ClaimedBy, up.ClaimedUntil = core.NewID(), "", 0, "", time.Time{}
		if err := u.Store.DeleteChunks(ctx, orgID, id, contactupload.RejectedChunk); err != nil {
			return err
		}
		if err := u.Store.UpdateUpload(ctx, orgID, up); err != nil {
			return err
		}
		return u.Queue.Enqueue(ctx, UploadArgs{OrgID: orgID, ID: id})
	})
}

// Discard deletes an upload and its file. It fails with core.CodeConflict while the rows are
// being imported.
func (u *Uploads) Discard(ctx context.Context, orgID, id string) error {
	return u.Transactor.InTx(ctx, func(ctx context.Context) error {
		up, err := u.Store.Upload(ctx, orgID, id)
		if err != nil {
			return err
		}
		if up.Status == contactupload.Importing {
			return core.Conflict("The file is being imported.", "Wait until the import ends.")
		}
		return u.Store.DeleteUpload(ctx, orgID, id)
	})
}

// WriteRejected writes the rejected rows as CSV, with the header of the file and two more
// columns: the line and the reason. If some rows were not kept, a last record says how many.
// WriteRejected fails with core.CodeNotFound, before it writes, if the rows are not stored. It
// fails with core.CodeConflict, after it has written, if rows were deleted while it read them.
func (u *Uploads) WriteRejected(ctx context.Context, orgID, id string, to io.Writer) error {
	up, err := u.Store.Upload(ctx, orgID, id)
	if err != nil {
		return err
	}
	if !up.HasRejected(u.Clock()) {
		return core.NotFound("file of rejected rows")
	}
	rows := contactfile.NewRejectedWriter(to, up.Sample.Header, up.Settings.Delimiter)
	if err := rows.WriteHeader(); err != nil {
		return err
	}
	if _, err := io.Copy(to, u.openRejected(ctx, orgID, up.ID)); err != nil {
		return err
	}
	if err := u.checkSameRejected(ctx, orgID, up); err != nil {
		return err
	}
	result := up.Result()
	if result.NotKept == 0 {
		return nil
	}
	return rows.Write(contactfile.Row{Line: result.NotKeptLine}, fmt.Sprintf(
		"From this line of your file on, rejected rows were counted but not kept, %d in total: a file of rejected rows has at most %s. Correct the rows above, import them, then import your file from this line on again.",
		result.NotKept, contactupload.SizeWords(u.MaxRejectedBytes())))
}

// checkSameRejected fails with core.CodeConflict if the rejected rows of the upload were
// deleted since it was read as up. Their chunks are deleted when another run starts, with
// the upload, or when they are too old. A reader of the chunks then finds fewer of them, or
// none, and cannot tell that from the end.
func (u *Uploads) checkSameRejected(ctx context.Context, orgID string, up contactupload.Upload) error {
	now, err := u.Store.Upload(ctx, orgID, up.ID)
	if core.IsNotFound(err) || err == nil && (now.Run != up.Run || !now.HasRejected(u.Clock())) {
		return core.Conflict("The rejected rows were deleted while they were read.", "Open the page of the upload to see its state.")
	}
	return err
}

// refusedFile returns the error for a file that cannot be imported. It begins the reason
// with a capital letter.
func refusedFile(reason error) *core.Error {
	text := reason.Error()
	return &core.Error{Code: core.CodeValidationFailed, Message: fmt.Sprintf("%c%s.", text[0]-upperShift(text[0]), text[1:])}
}

// upperShift returns the distance of a lower-case ASCII letter to its capital, and 0 for
// every other byte.
func upperShift(b byte) byte {
	if b >= 'a' && b <= 'z' {
		return 'a' - 'A'
	}
	return 0
}
