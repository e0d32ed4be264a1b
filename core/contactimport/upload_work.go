package contactimport

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/core/jobs"
)

const (
	// uploadEvery is the interval of the run that continues interrupted uploads and deletes
	// old ones.
	uploadEvery   = time.Minute
	uploadTimeout = 30 * time.Minute
	// claimed is how long a claim lasts, unless its process ends before. A process renews it
	// after each part, which takes a few seconds.
	claimed = 2 * time.Minute
	// maxAttempts is the number of runs without progress after which an upload fails.
	maxAttempts = 10
	// maxCells is the maximum number of cells of a row in the preview. maxCell and maxReason
	// are the maximum lengths of a cell and of a reason, in characters.
	maxCells, maxCell, maxReason = 20, 80, 300
)

// UploadArgs names the upload that a job checks or imports. A job with empty UploadArgs
// continues all interrupted uploads and deletes old ones.
type UploadArgs struct {
	OrgID string `json:"org_id,omitempty"`
	ID    string `json:"id,omitempty"`
}

// Kind returns the name of the job.
func (UploadArgs) Kind() string { return "contact_uploads" }

// Worker returns the job that checks and imports uploaded files.
func (u *Uploads) Worker() jobs.Worker[UploadArgs] {
	return jobs.Worker[UploadArgs]{Work: u.work, Every: uploadEvery, Timeout: uploadTimeout}
}

func (u *Uploads) work(ctx context.Context, args UploadArgs) error {
	judged := newVerdicts(u.Processes)
	if args.ID != "" {
		return u.continueUpload(ctx, args.OrgID, contactupload.Work{ID: args.ID}, judged)
	}
	return jobs.ForEachOrg(ctx, "", u.Orgs, "uploads of contacts", func(ctx context.Context, org string) error {
		return u.workOrg(ctx, org, judged)
	})
}

// workOrg deletes the old uploads of an organization, drops its interrupted transfers, and
// continues its interrupted checks and imports.
func (u *Uploads) workOrg(ctx context.Context, orgID string, judged verdicts) error {
	now := u.Clock()
	err := u.Store.PurgeUploads(ctx, orgID, contactupload.Retention{
		Files: now.Add(-contactupload.FileKept), Rejected: now.Add(-contactupload.RejectedKept), Receiving: now.Add(-receivingKept), All: now.Add(-contactupload.UploadKept),
	})
	if err != nil {
		return err
	}
	_, err = u.dropTransfers(ctx, orgID, judged)
	open, failed := u.Store.WorkingUploads(ctx, orgID)
	err = errors.Join(err, failed)
	for _, work := range open {
		if work.Status != contactupload.Receiving {
			err = errors.Join(err, u.continueUpload(ctx, orgID, work, judged))
		}
	}
	return err
}

// claim claims an upload that is being checked or imported. It reports false if a running
// process works on it.
func (u *Uploads) claim(ctx context.Context, orgID string, work contactupload.Work, judged verdicts) (bool, error) {
	now := u.Clock()
	c := contactupload.Claim{Process: u.Processes.ID(), Now: now, Until: now.Add(claimed)}
	mine, err := u.Store.ClaimUpload(ctx, orgID, work.ID, c)
	if err != nil || mine || work.Process == "" {
		return mine, err
	}
	ended, err := judged.hasEnded(ctx, work.Process)
	if err != nil || !ended {
		return false, err
	}
	c.Instead = work.Process
	return u.Store.ClaimUpload(ctx, orgID, work.ID, c)
}

// continueUpload checks or imports an upload, unless another process does. It may be
// interrupted and repeated: an import continues after the last part that was stored.
func (u *Uploads) continueUpload(ctx context.Context, orgID string, work contactupload.Work, judged verdicts) error {
	id := work.ID
	mine, err := u.claim(ctx, orgID, work, judged)
	if err != nil || !mine {
		return err
	}
	up, err := u.Store.Upload(ctx, orgID, id)
	if core.IsNotFound(err) || err == nil && up.ClaimedBy != u.Processes.ID() {
		return nil // it was discarded, another run was started, or another process has claimed it
	}
	if err != nil {
		return err
	}
	if up.Attempts > maxAttempts {
		return u.fail(ctx, orgID, up, "The job failed repeatedly and was ended. Rows that were imported before stay.")
	}
	pass := &pass{uploads: u, orgID: orgID, up: up, dry: up.Status == contactupload.Checking}
	err = pass.run(ctx)
	if refusal, ok := errors.AsType[*core.Error](err); ok && refusal.Code == core.CodeValidationFailed {
		return u.fail(ctx, orgID, pass.up, refusal.Message)
	}
	if errors.Is(err, errReplaced) {
		return nil
	}
	return err
}

// errReplaced is the error of a run whose upload was discarded, whose upload another process
// has claimed or finished, or after which another run was started.
var errReplaced = errors.New("the run of the upload was replaced")

// change runs f in a transaction that holds the upload, as long as the run of up works on
// it. f gets the stored upload. change fails with errReplaced otherwise. A process that
// stands still counts as ended, and may then continue: it must not finish the upload and
// delete the file that the process in its place is reading.
func (u *Uploads) change(ctx context.Context, orgID string, up contactupload.Upload, f func(ctx context.Context, held contactupload.Upload) error) error {
	return u.Transactor.InTx(ctx, func(ctx context.Context) error {
		held, err := u.Store.Upload(ctx, orgID, up.ID)
		if core.IsNotFound(err) || err == nil && (held.Run != up.Run || held.Status != up.Status || held.ClaimedBy != up.ClaimedBy) {
			return errReplaced
		}
		if err != nil {
			return err
		}
		return f(ctx, held)
	})
}

// fail ends the work on an upload, unless another run was started.
func (u *Uploads) fail(ctx context.Context, orgID string, up contactupload.Upload, problem string) error {
	err := u.change(ctx, orgID, up, func(ctx context.Context, _ contactupload.Upload) error {
		up.Status, up.Problem, up.ClaimedBy, up.ClaimedUntil = contactupload.Failed, problem, "", time.Time{}
		u.Log.InfoContext(ctx, "import of contacts failed", "org_id", orgID, "upload_id", up.ID, "problem", problem)
		return u.Store.UpdateUpload(ctx, orgID, up)
	})
	if errors.Is(err, errReplaced) {
		return nil
	}
	return err
}

// pass is one run over the file of an upload: a dry run or the import.
type pass struct {
	uploads *Uploads
	orgID   string
	up      contactupload.Upload
	dry     bool
	// onlyStarted is true for the run of another process after a person has stopped the import.
	onlyStarted bool
	preview     []contactupload.PreviewRow
	// rejected collects the rejected rows. parts is the number of parts stored so far.
	rejected rejectedRows
	parts    int
}

// run reads the file and checks or imports its rows. It fails with
// core.CodeValidationFailed if the file cannot be read to its end.
func (p *pass) run(ctx context.Context) error {
	attributes, err := p.uploads.Contacts.AttributeNames(ctx, p.orgID)
	if err != nil {
		return err
	}
	file := p.uploads.openFile(ctx, p.orgID, p.up)
	settings := p.up.Settings
	rows, err := contactfile.Open(file, contactfile.Config{
		Delimiter: settings.Delimiter, Targets: settings.Targets, Attributes: attributes, ClearEmpty: settings.ClearEmpty, Rebind: settings.Rebind,
	})
	if err != nil {
		return p.explain(file, err)
	}
	p.rejected.write, p.rejected.left = contactfile.NewRejectedWriter(&p.rejected.part, rows.Header(), rows.Delimiter()), p.uploads.MaxRejectedBytes()
	p.onlyStarted = settings.Stopping && !p.dry
	atOnce, free := p.uploads.partsAtOnce(p.onlyStarted)
	defer free()
	sum, err := Run(ctx, Config{
		People: p.uploads.Contacts, AtOnce: atOnce, OrgID: p.orgID, By: consent.ByImport(p.up.ImportedBy), Upload: p.up.ID, DryRun: p.dry, List: settings.List, OnlyStarted: p.onlyStarted,
		Rejected: p.rejected.add, Each: p.note, Stored: p.store,
	}, rows)
	if errors.Is(err, errStopped) {
		return p.complete(ctx, sum, contactupload.Stopped)
	}
	if unread, ok := errors.AsType[*readError](err); ok {
		return p.explain(file, unread.err)
	}
	if err != nil {
		return err
	}
	if p.dry {
		return p.complete(ctx, sum, contactupload.Checked)
	}
	return p.complete(ctx, sum, contactupload.Completed)
}

// partsAtOnce returns how many parts of a file a run may store at the same time. The run calls free
// at its end. A run that only counts what an earlier one has stored must look as far ahead as that one.
func (u *Uploads) partsAtOnce(onlyStarted bool) (atOnce int, free func()) {
	if onlyStarted {
		return u.PartsAtOnce, func() {}
	}
	if u.PartsAtOnce > 1 && u.several.TryLock() {
		return u.PartsAtOnce, u.several.Unlock
	}
	return 1, func() {}
}

// explain returns the error of the stored file if that ended reading, and otherwise the
// refusal of its content.
func (*pass) explain(file *chunkReader, err error) error {
	if file.failure != nil {
		return file.failure
	}
	return refusedFile(err)
}

// note adds one of the first rows of a dry run to the preview.
func (p *pass) note(row contactfile.Row, outcome contactupload.Outcome) {
	if !p.dry || len(p.preview) >= previewRows {
		return
	}
	outcome.Reason = shorten(outcome.Reason, maxReason)
	shown := contactupload.PreviewRow{Line: row.Line, Outcome: outcome}
	for i, target := range p.up.Settings.Targets {
		if target != "" && i < len(row.Cells) && row.Cells[i] != "" && len(shown.Cells) < maxCells {
			shown.Cells = append(shown.Cells, contactupload.Cell{Target: target, Value: shorten(row.Cells[i], maxCell)})
		}
	}
	p.preview = append(p.preview, shown)
}

// store stores the counts and the rejected rows of a part, and renews the claim.
func (p *pass) store(ctx context.Context, sum contactupload.Summary) error {
	if sum.Rows > contactupload.MaxUploadRows {
		return &core.Error{Code: core.CodeValidationFailed, Message: fmt.Sprintf("The file has more than %d rows. Divide it.", contactupload.MaxUploadRows)}
	}
	p.up.ClaimedUntil = p.uploads.Clock().Add(claimed)
	p.setResult(sum)
	err := p.uploads.change(ctx, p.orgID, p.up, func(ctx context.Context, held contactupload.Upload) error {
		p.up.Settings.Stopping = held.Settings.Stopping
		if sum.Rows > p.counted(held) { // parts that an earlier run has counted are no progress
			p.up.Attempts = 0
		}
		p.keepProgress(held)
		if err := p.storeRejected(ctx, held, sum.Rows); err != nil {
			return err
		}
		return p.uploads.Store.UpdateUpload(ctx, p.orgID, p.up)
	})
	p.rejected.part.Reset()
	p.parts++
	if err == nil && p.up.Settings.Stopping && !p.dry && !p.onlyStarted && sum.Rows >= p.up.Import.Rows {
		return errStopped
	}
	return err
}

// storeRejected stores the rejected rows of a part, at whose end the run has counted the given
// number of rows. If an interrupted run had stored the part, it replaces the rejected rows of
// that run, also by none: a row may be accepted now.
func (p *pass) storeRejected(ctx context.Context, held contactupload.Upload, rows int) error {
	before := held.Import
	if p.dry {
		before = held.Check
	}
	part := p.rejected.part.Bytes()
	if len(part) == 0 {
		if before.Rows < rows {
			return nil
		}
		part = []byte{} // the database has no nil content
	}
	return p.uploads.Store.WriteChunk(ctx, p.orgID, p.up.ID, contactupload.RejectedChunk, p.parts, part)
}

// counted returns the number of rows that the dry run or the import of up has counted so far.
func (p *pass) counted(up contactupload.Upload) int {
	if p.dry {
		return up.Check.Rows
	}
	return up.Import.Rows
}

// keepProgress keeps the counts of an interrupted run until this run has counted as many
// rows, so that the shown progress never decreases.
func (p *pass) keepProgress(held contactupload.Upload) {
	if p.counted(held) <= p.counted(p.up) {
		return
	}
	if p.dry {
		p.up.Check = held.Check
	} else {
		p.up.Import = held.Import
	}
}

// setResult sets the counts of the dry run or of the import.
func (p *pass) setResult(sum contactupload.Summary) {
	result := contactupload.Result{Summary: sum, Read: sum.Bytes, Preview: p.preview, NotKept: p.rejected.notKept, NotKeptLine: p.rejected.notKeptLine}
	if p.dry {
		p.up.Check = result
	} else {
		p.up.Import = result
	}
}

// complete stores the end of the run and its status. An import deletes the file.
func (p *pass) complete(ctx context.Context, sum contactupload.Summary, status contactupload.UploadStatus) error {
	p.setResult(sum)
	done := p.up
	done.Attempts, done.ClaimedBy, done.ClaimedUntil, done.Status = 0, "", time.Time{}, status
	if !p.dry {
		now := p.uploads.Clock()
		done.CompletedAt = &now
	}
	p.uploads.Log.InfoContext(ctx, "contact file processed", "org_id", p.orgID, "upload_id", p.up.ID, "dry_run", p.dry, "rows", sum.Rows, "rejected", sum.Rejected)
	return p.uploads.change(ctx, p.orgID, p.up, func(ctx context.Context, _ contactupload.Upload) error {
		if !p.dry {
			if err := p.uploads.Store.DeleteChunks(ctx, p.orgID, p.up.ID, contactupload.FileChunk); err != nil {
				return err
			}
		}
		return p.uploads.Store.UpdateUpload(ctx, p.orgID, done)
	})
}
