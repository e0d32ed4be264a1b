// Package contactimport imports the rows of a contact file in parts. It divides the file
// into parts, and gives each part an id by which a repeated import recognizes it. Package
// contactfile reads the file; package core/bulk stores the rows.
package contactimport

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactupload"
)

const (
	// maxPart is the number of bytes of weightOf, and maxRows the number of rows, at which a
	// part of the file is full. Each part is stored in one bulk write.
	maxPart = 4 << 20
	maxRows = bulk.MaxRows
	// maxNoted is the maximum number of rejected rows, and of rows not mailable, whose line
	// numbers the summary lists.
	maxNoted = 10
)

// People stores the rows of an import. Import stores the rows of one part of the file under
// the id of the part, as changes by the given source. It may be repeated with the same id. IsImported reports whether a
// part with the id was stored, IsStarted whether it is stored or will be. TryImport checks
// rows without storing them. JoinList puts contacts on a static list. Erased returns those of the
// email keys whose persons were erased and must get no mail.
type People interface {
	Import(ctx context.Context, orgID string, by consent.Source, id string, rows []json.RawMessage) ([]bulk.Item, error)
	IsImported(ctx context.Context, orgID, id string) (bool, error)
	IsStarted(ctx context.Context, orgID, id string) (bool, error)
	TryImport(ctx context.Context, orgID string, rows []json.RawMessage) ([]bulk.Item, error)
	JoinList(ctx context.Context, orgID, listID string, contactIDs []string) error
	Erased(ctx context.Context, orgID string, keys []string) (map[string]bool, error)
}

// Config configures an import of contacts. Each, Progress and Stored may be nil.
type Config struct {
	People People
	OrgID  string
	// By says who imports the file. It is recorded with the consent of contacts.
	By consent.Source
	// DryRun checks the rows and changes nothing. If Again is true, Run imports the whole
	// file. If Again is false, Run skips the parts (groups of consecutive rows) that an
	// earlier run of the same file imported in the last seven days.
	DryRun, Again bool
	// Upload is the id of the uploaded file, "" for a file of the command. Run skips only
	// parts of the same upload, so that a file that is uploaded again is imported again.
	Upload string
	// List is the id of a static list that the imported contacts join, "" for none.
	List string
	// AtOnce is the maximum number of parts that are stored at the same time, 0 for one. Parts
	// that change the same contact are stored in the order of the file.
	AtOnce int
	// OnlyStarted ends the import with errStopped before the first part that no earlier run
	// has begun to store. Parts that are being stored beside it are counted.
	OnlyStarted bool
	// Rejected is called with each rejected row and the reason, in the order of the file.
	Rejected func(row contactfile.Row, reason string) error
	// Each is called with each row and its outcome, in the order of the file.
	Each     func(row contactfile.Row, outcome contactupload.Outcome)
	Progress func(contactupload.Summary)
	// Stored is called after each part. An error ends the import.
	Stored func(context.Context, contactupload.Summary) error
}

// errStopped is the error of an import that a person has stopped.
var errStopped = errors.New("the import is stopped")

// run is the state of one import. It must not be used concurrently.
type run struct {
	cfg Config
	contactupload.Summary
	// storing has the parts that are being stored, in the order of the file.
	storing []*part
	// parts is the number of parts that the import has reached so far, including the
	// current one. The id of a part is a hash of the organization, this number and the
	// part's rows.
	parts int
}

// Run imports the rows of a file, divided into parts, with the result that storing one after the
// other has. While parts are being stored, Run already reads the next. If reading or storing
// fails, it returns the error and the summary of the parts before that. It may be repeated:
// unless cfg.Again is true, it skips parts that an earlier run imported.
func Run(ctx context.Context, cfg Config, rows *contactfile.Reader) (contactupload.Summary, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{cfg: cfg, Summary: contactupload.Summary{RejectedLines: []int{}, NotMailableLines: []int{}}}
	parts, ended := make(chan []contactfile.Row), make(chan error, 1)
	go func() {
		defer close(parts)
		ended <- divideRows(ctx, rows, parts)
	}()
	stop := func(err error) (contactupload.Summary, error) {
		if errors.Is(err, errStopped) {
			err = r.endBegun(ctx)
		}
		cancel(err)
		r.abandon()
		for range parts { // until the reader notices
			continue
		}
		return r.Summary, err
	}
	for rows := range parts {
		if err := r.begin(ctx, rows); err != nil {
			return stop(err)
		}
	}
	if err := r.endAll(ctx); err != nil {
		return stop(err)
	}
	return r.Summary, <-ended
}

// divideRows reads the file, divides its rows into parts of several rows, and sends the
// parts to the channel. It returns nil at the end of the file, and an error if reading
// fails or ctx ends.
func divideRows(ctx context.Context, rows *contactfile.Reader, parts chan<- []contactfile.Row) error {
	for {
		part, err := readPart(rows)
		if len(part) > 0 {
			select {
			case parts <- part:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// readPart reads rows until the part is full or the file ends. On an error it also returns
// the rows read so far. At the end of the file the error is io.EOF.
func readPart(rows *contactfile.Reader) ([]contactfile.Row, error) {
	var part []contactfile.Row
	for size := 0; len(part) < maxRows && size < maxPart; {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return part, err
		}
		if err != nil {
			return part, &readError{err}
		}
		part = append(part, row)
		size += weightOf(row)
	}
	return part, nil
}

// weightOf returns the number of bytes that a row adds to the size of its part: those of its
// JSON, or those of its cells if they need more memory. A rejected row has no JSON.
func weightOf(row contactfile.Row) int {
	const cell = 16 // the bytes of a string without its text
	return max(len(row.JSON), int(row.Size)+cell*len(row.Cells))
}

// readError is an error of reading the file, as opposed to one of storing rows.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

func (e *readError) Unwrap() error { return e.err }

// count adds the outcome of one row to the summary and returns it. line is the number of the
// row's first line in the file.
func (r *run) count(item bulk.Item, line int) contactupload.Outcome {
	outcome := contactupload.Outcome{Status: string(item.Status), NotMailable: item.Mailable != nil && !*item.Mailable}
	if outcome.NotMailable {
		r.NotMailable++
		if len(r.NotMailableLines) < maxNoted {
			r.NotMailableLines = append(r.NotMailableLines, line)
		}
	}
	switch item.Status {
	case bulk.ItemCreated:
		r.Created++
	case bulk.ItemUpdated:
		r.Updated++
	default:
		outcome.Reason = reasonOf(item)
	}
	return outcome
}

// report counts the rows of a part, passes the rejected ones to cfg.Rejected and reports
// progress. outcomes has an element for each row.
func (r *run) report(part []contactfile.Row, outcomes []contactupload.Outcome) error {
	r.Rows, r.Bytes = r.Rows+len(part), part[len(part)-1].End
	for i, row := range part {
		if r.cfg.Each != nil {
			r.cfg.Each(row, outcomes[i])
		}
		if outcomes[i].Reason == "" {
			continue
		}
		r.Rejected++
		if len(r.RejectedLines) < maxNoted {
			r.RejectedLines = append(r.RejectedLines, row.Line)
		}
		if err := r.cfg.Rejected(row, outcomes[i].Reason); err != nil {
			return err
		}
	}
	if r.cfg.Progress != nil {
		r.cfg.Progress(r.Summary)
	}
	return nil
}

// checkStarted fails with errStopped if cfg.OnlyStarted is true and no run has begun to store
// the part with the id.
func (r *run) checkStarted(ctx context.Context, id string) error {
	if !r.cfg.OnlyStarted {
		return nil
	}
	started, err := r.cfg.People.IsStarted(ctx, r.cfg.OrgID, id)
	if err == nil && !started {
		return errStopped
	}
	return err
}

// join puts the contacts of accepted rows on the list of the import. A part that an earlier
// run stored joins again, because that run may have ended between the two steps.
func (r *run) join(ctx context.Context, items []bulk.Item) error {
	var ids []string
	for _, item := range items {
		if item.Status != bulk.ItemFailed {
			ids = append(ids, item.ContactID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return r.cfg.People.JoinList(ctx, r.cfg.OrgID, r.cfg.List, ids)
}

// idOf returns the id of a part, a UUID of version 8 (RFC 9562 section 5.8). It is a hash
// of the organization, the upload, the number of the part and its rows. A repeated import
// of the same file therefore computes the same ids.
func idOf(orgID, upload string, part int, rows []json.RawMessage) string {
	h := sha256.New()
	add := func(b []byte) {
		_ = binary.Write(h, binary.BigEndian, uint64(len(b))) // a hash accepts all writes
		_, _ = h.Write(b)
	}
	add([]byte("mailhelm import contacts 1"))
	add([]byte(orgID))
	if upload != "" {
		add([]byte("upload " + upload))
	}
	add([]byte(fmt.Sprint(part)))
	for _, row := range rows {
		add(row)
	}
	id := uuid.UUID(h.Sum(nil)[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id.String()
}

// reasonOf returns the reason why a row was refused, on one line: the error code and each
// invalid field.
func reasonOf(item bulk.Item) string {
	words := make([]string, 0, len(item.Errors))
	for _, e := range item.Errors {
		words = append(words, strings.TrimSpace(e.Field+" "+e.Reason))
	}
	return item.Reason + ": " + strings.Join(words, "; ")
}
