package contactimport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactupload"
)

// maxFileName is the maximum length of a stored file name in characters.
const maxFileName = 200

const (
	// maxOpen is the maximum number of an organization's uploads that have a stored file.
	maxOpen = 5
	// chunkSize is the number of bytes of a file that one row of the database holds.
	chunkSize = 1 << 20
	// previewRows is the number of rows at the start of a file whose outcome is shown.
	previewRows = 20
	// receivingKept is the time after which an unfinished transfer has failed.
	receivingKept = time.Hour
)

// Receive stores a file that the user uploads and reads its header. It keeps one chunk of the
// file in memory. It fails with core.CodeValidationFailed if the file is too large or not CSV
// in UTF-8, and with core.CodeConflict if the organization has too many stored files or the
// upload was deleted during the transfer. Nothing is then stored. It must not run in a transaction, because it reads from the network.
func (u *Uploads) Receive(ctx context.Context, orgID, userID, fileName string, file io.Reader) (contactupload.Upload, error) {
	up := contactupload.Upload{
		ID: core.NewID(), FileName: core.Quotable(fileName, maxFileName), UploadedBy: userID, Status: contactupload.Receiving, CreatedAt: u.Clock(),
		ClaimedBy: u.Processes.ID(),
	}
	err := u.insert(ctx, orgID, up)
	if core.IsConflict(err) && u.makeRoom(ctx, orgID) {
		err = u.insert(ctx, orgID, up)
	}
	if err != nil {
		return contactupload.Upload{}, err
	}
	if err = u.receive(ctx, orgID, &up, file); err == nil {
		return up, nil
	}
	if core.IsNotFound(err) || errors.Is(err, errMissing) {
		// The upload was deleted: by another process, if this one stood still and counted as
		// ended, or by the periodic job, if the transfer took longer than receivingKept.
		err = core.Conflict("The transfer of the file was interrupted.", "Send the file again.")
	}
	return contactupload.Upload{}, errors.Join(err, u.deleteTransfer(context.WithoutCancel(ctx), orgID, up.ID))
}

// deleteTransfer deletes an upload that could not be received, unless it was deleted before.
func (u *Uploads) deleteTransfer(ctx context.Context, orgID, id string) error {
	err := u.Store.DeleteUpload(ctx, orgID, id)
	if core.IsNotFound(err) {
		return nil
	}
	return err
}

// makeRoom drops interrupted transfers, which count as stored files, and reports whether there
// were any. It only logs an error: the answer to the user, that there are too many files,
// remains true and says what to do.
func (u *Uploads) makeRoom(ctx context.Context, orgID string) bool {
	dropped, err := u.dropTransfers(ctx, orgID, newVerdicts(u.Processes))
	if err != nil {
		u.Log.WarnContext(ctx, "interrupted uploads of contact files not dropped", "org_id", orgID, "error", err)
	}
	return dropped > 0
}

// insert stores a new upload. It fails with core.CodeConflict if the organization has too
// many stored files; files that are being received count too.
func (u *Uploads) insert(ctx context.Context, orgID string, up contactupload.Upload) error {
	return u.Transactor.InTx(ctx, func(ctx context.Context) error {
		stored, err := u.Store.CountFiles(ctx, orgID)
		if err != nil {
			return err
		}
		if stored >= maxOpen {
			return core.Conflict(fmt.Sprintf("%d uploaded files wait for their import, the maximum of an organization.", stored),
				"Import or discard one of them first.")
		}
		return u.Store.InsertUpload(ctx, orgID, up)
	})
}

// dropTransfers deletes the uploads that a process was receiving when it ended, and returns
// their number. They would otherwise count as stored files until they are purged.
func (u *Uploads) dropTransfers(ctx context.Context, orgID string, judged verdicts) (int, error) {
	open, err := u.Store.WorkingUploads(ctx, orgID)
	if err != nil {
		return 0, err
	}
	dropped := 0
	for _, work := range open {
		if work.Status != contactupload.Receiving {
			continue
		}
		ended, err := judged.hasEnded(ctx, work.Process)
		if err != nil {
			return dropped, err
		}
		if !ended {
			continue
		}
		switch err := u.dropTransfer(ctx, orgID, work); {
		case err == nil:
			dropped++
		case !errors.Is(err, errReceived) && !core.IsNotFound(err):
			return dropped, err
		}
	}
	return dropped, nil
}

// errReceived is the error of dropTransfer for a transfer that was completed.
var errReceived = errors.New("the file was received")

// dropTransfer deletes an upload that a process was receiving when it ended. It fails with
// errReceived if the process had received the file before it ended: work may be older, because
// it takes seconds to find out that a process has ended.
func (u *Uploads) dropTransfer(ctx context.Context, orgID string, work contactupload.Work) error {
	return u.Transactor.InTx(ctx, func(ctx context.Context) error {
		up, err := u.Store.Upload(ctx, orgID, work.ID)
		if err != nil {
			return err
		}
		if up.Status != contactupload.Receiving {
			return errReceived
		}
		return u.Store.DeleteUpload(ctx, orgID, work.ID)
	})
}

// receive stores the chunks of the file and the sample of its rows.
func (u *Uploads) receive(ctx context.Context, orgID string, up *contactupload.Upload, file io.Reader) error {
	chunk := make([]byte, chunkSize)
	for position := 0; ; position++ {
		n, err := io.ReadFull(file, chunk)
		if up.Size += int64(n); up.Size > contactupload.MaxUpload {
			return core.Invalid("file", fmt.Sprintf("is larger than %d MB; divide it", contactupload.MaxUpload>>20))
		}
		if n > 0 {
			if err := u.Store.WriteChunk(ctx, orgID, up.ID, contactupload.FileChunk, position, chunk[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return core.Invalid("file", "could not be read to its end; send it again")
		}
	}
	return u.readSample(ctx, orgID, up)
}

// readSample reads the header and the first rows of the stored file, and guesses what the
// columns set.
func (u *Uploads) readSample(ctx context.Context, orgID string, up *contactupload.Upload) error {
	file := u.openFile(ctx, orgID, *up)
	sample, err := contactfile.ReadSample(file)
	if err != nil {
		if file.failure != nil {
			return file.failure
		}
		return refusedFile(err)
	}
	attributes, err := u.Contacts.AttributeNames(ctx, orgID)
	if err != nil {
		return err
	}
	if err := u.withholdErasedSample(ctx, orgID, sample); err != nil {
		return err
	}
	up.Sample, up.Status, up.ClaimedBy = sample, contactupload.Received, ""
	up.Settings = contactupload.Settings{Delimiter: sample.Delimiter, Targets: contactfile.GuessTargets(sample.Header, attributes)}
	return u.Store.UpdateUpload(ctx, orgID, *up)
}

// openFile returns a reader of the uploaded file. It keeps one chunk in memory.
func (u *Uploads) openFile(ctx context.Context, orgID string, up contactupload.Upload) *chunkReader {
	return &chunkReader{left: up.Size, next: func(position int) ([]byte, int, error) {
		return u.Store.Chunk(ctx, orgID, up.ID, contactupload.FileChunk, position)
	}}
}

// openRejected returns a reader of the rejected rows of an upload. Their size is not stored.
func (u *Uploads) openRejected(ctx context.Context, orgID, id string) *chunkReader {
	return &chunkReader{next: func(position int) ([]byte, int, error) {
		return u.Store.Chunk(ctx, orgID, id, contactupload.RejectedChunk, position)
	}}
}

// errMissing is the error of reading a file whose chunks end before the file. A run of the
// upload that was replaced does not report it, because its chunks were deleted on purpose;
// see [Uploads.fail].
var errMissing = &core.Error{Code: core.CodeValidationFailed, Message: "A part of the stored file is missing. Upload the file again."}

// chunkReader reads a file from its chunks.
type chunkReader struct {
	next     func(position int) ([]byte, int, error)
	position int
	rest     []byte
	// left is the number of bytes after the current chunk. It is 0 or less at the end of the
	// file, and for a file whose size is not stored.
	left int64
	// failure is the error that ended reading before the end of the file, nil otherwise. It
	// is errMissing or an error of the database.
	failure error
}

// Read reads from the current chunk. At the end of the file it returns io.EOF. If chunks are
// missing there, it returns errMissing: io.EOF would make a shorter file of them.
func (c *chunkReader) Read(b []byte) (int, error) {
	for len(c.rest) == 0 {
		chunk, position, err := c.next(c.position)
		switch {
		case core.IsNotFound(err) && c.left > 0:
			c.failure = errMissing
			return 0, errMissing
		case core.IsNotFound(err):
			return 0, io.EOF
		case err != nil:
			c.failure = err
			return 0, err
		}
		c.rest, c.position, c.left = chunk, position+1, c.left-int64(len(chunk))
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// shorten returns the text with at most n characters, without invalid UTF-8.
func shorten(text string, n int) string { return core.Quotable(strings.ToValidUTF8(text, "\uFFFD"), n) }
