package contactupload

import (
	"time"

	"github.com/mailhelm/mailhelm/core/contactfile"
)

// The limits of uploaded files.
const (
	// MaxUpload is the maximum size of a file in bytes, and MaxUploadRows that of its rows.
	MaxUpload     = 50 << 20
	MaxUploadRows = 500_000
	// MaxRejected is the maximum size in bytes of the rejected rows that are kept for one
	// upload, without their header, unless another is configured. It is larger than a file,
	// because each row is kept with a reason.
	MaxRejected = 2 * MaxUpload
)

// How long the parts of an upload are kept.
const (
	// FileKept is how long a file waits for its import. The import deletes it.
	FileKept = 24 * time.Hour
	// RejectedKept is how long the rejected rows of an upload are kept.
	RejectedKept = 7 * 24 * time.Hour
	// UploadKept is how long the counts of an upload are kept.
	UploadKept = 30 * 24 * time.Hour
)

// UploadStatus is the state of an upload.
type UploadStatus string

// The states of an upload, in their order. A failed upload can be checked again while its
// file is stored.
const (
	Receiving UploadStatus = "receiving" // the file is being transferred
	Received  UploadStatus = "received"  // the columns are not chosen yet
	Checking  UploadStatus = "checking"  // a job checks the rows
	Checked   UploadStatus = "checked"   // the import can start
	Importing UploadStatus = "importing" // a job imports the rows
	Completed UploadStatus = "completed"
	Stopped   UploadStatus = "stopped" // a person ended the import; Import has the rows so far
	Failed    UploadStatus = "failed"
)

// Upload is an uploaded contact file and the state of its import.
type Upload struct {
	ID       string
	FileName string
	// UploadedBy is the id of the user who uploaded the file. It is "" for a file that was
	// uploaded before these ids were stored.
	UploadedBy string
	// ImportedBy is the id of the user who started the import, "" before it.
	ImportedBy string
	Size       int64 // in bytes
	Status     UploadStatus
	// Run identifies the latest check or import that was started, also after its end. Each
	// start sets a new id. It is "" before the first.
	Run      string
	Sample   contactfile.Sample
	Settings Settings
	// Check is the result of the dry run, and Import that of the import. Both are the counts
	// so far while the job runs, and zero before.
	Check, Import Result
	// Problem says why the upload failed, "" otherwise.
	Problem string
	// Attempts counts the runs of the job since it last made progress.
	Attempts  int
	CreatedAt time.Time
	// CompletedAt is the end of the import, nil before it.
	CompletedAt *time.Time
	// ClaimedBy is the id of the server process that receives, checks or imports the file, ""
	// for none. ClaimedUntil is the time until which its claim to check or import lasts.
	ClaimedBy    string
	ClaimedUntil time.Time
}

// Settings say how the file of an upload is read.
type Settings struct {
	// Delimiter separates cells. Targets has what each column sets; see contactfile.Config.
	Delimiter  rune     `json:"delimiter"`
	Targets    []string `json:"targets"`
	ClearEmpty bool     `json:"clear_empty"`
	Rebind     bool     `json:"rebind"`
	// List is the id of the static list that imported contacts join, "" for none. ListName
	// is the name of the list when it was chosen.
	List     string `json:"list,omitempty"`
	ListName string `json:"list_name,omitempty"`
	// Stopping is true after a person asked to end the import.
	Stopping bool `json:"stopping,omitempty"`
}

// Result has the counts of a dry run or an import.
type Result struct {
	Summary
	// Read is the number of bytes of the file up to the last counted row.
	Read int64 `json:"read"`
	// NotKept is the number of rejected rows that are counted but not kept, because the
	// rejected rows before them reached their maximum size. NotKeptLine is the number, from 1, of
	// the line at which the first of them begins, 0 if there is none.
	NotKept     int `json:"not_kept,omitempty"`
	NotKeptLine int `json:"not_kept_line,omitempty"`
	// Preview has the outcomes of the first rows. Only a dry run sets it.
	Preview []PreviewRow `json:"preview,omitempty"`
}

// PreviewRow is the outcome that an import would have for one row.
type PreviewRow struct {
	Line    int     `json:"line"`
	Cells   []Cell  `json:"cells"` // the cells of columns that are not ignored, shortened
	Outcome Outcome `json:"outcome"`
}

// Cell is a cell of a row with what its column sets, such as "email".
type Cell struct {
	Target string `json:"target"`
	Value  string `json:"value"`
}

// HasFile reports whether the file of the upload is stored at the given time.
func (u Upload) HasFile(now time.Time) bool {
	switch u.Status {
	case Completed, Stopped, Receiving:
		return false
	case Checking, Importing:
		return true
	}
	return now.Before(u.CreatedAt.Add(FileKept))
}

// HasRejected reports whether the rejected rows of the upload are stored at the given time.
// It returns false while a job still adds rows.
func (u Upload) HasRejected(now time.Time) bool {
	if u.Status == Checking || u.Status == Importing {
		return false
	}
	return u.Result().Rejected > 0 && now.Before(u.CreatedAt.Add(RejectedKept))
}

// Result returns the counts of the import, or those of the dry run if the import has not
// started.
func (u Upload) Result() Result {
	if u.Status == Importing || u.Status == Completed || u.Status == Stopped || u.Import.Rows > 0 {
		return u.Import
	}
	return u.Check
}
