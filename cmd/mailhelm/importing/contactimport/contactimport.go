// Package contactimport imports the rows of a contact file in parts. It owns the
// division into parts and the id that recognizes a repeated part. Package contactfile
// reads files, core/bulk stores rows.
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
	"github.com/mailhelm/mailhelm/cmd/mailhelm/importing/contactfile"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
)

const (
	// maxPart is the largest size of a part in bytes, maxRows the largest number of its
	// rows.
	maxPart = 4 << 20
	maxRows = bulk.MaxRows
	// maxNoted is the largest number of rejected rows that a summary names.
	maxNoted = 10
)

// People stores rows. Import may be repeated with the same id.
type People interface {
	Import(ctx context.Context, orgID, id string, rows []json.RawMessage) ([]bulk.Item, error)
	IsImported(ctx context.Context, orgID, id string) (bool, error)
	TryImport(ctx context.Context, orgID string, rows []json.RawMessage) ([]bulk.Item, error)
}

// Config configures a run. Progress may be nil.
type Config struct {
	People People
	OrgID  string
	// DryRun checks the rows and changes nothing. Again repeats parts that an earlier run
	// has done.
	DryRun, Again bool
	// Rejected receives each rejected row, in the order of the file.
	Rejected func(row contactfile.Row, reason string) error
	Progress func(Summary)
}

// Summary is the result of a run.
type Summary struct {
	Rows     int `json:"rows"`
	Created  int `json:"created"`
	Updated  int `json:"updated"`
	Rejected int `json:"rejected"`
	// RejectedLines are the lines on which the first rejected rows begin, from 1.
	RejectedLines []int `json:"rejected_lines"`
	// NotMailable counts the accepted rows whose contact may not be mailed: it is a stub, or
	// opted out of everything.
	NotMailable int `json:"not_mailable"`
	// NotMailableLines are the lines on which the first of these rows begin, from 1.
	NotMailableLines []int `json:"not_mailable_lines"`
	// DoneBefore counts the rows that an earlier run had done. The other counts include
	// them.
	DoneBefore int `json:"done_before"`
}

// run is the state of a run. Only the goroutine that calls Run uses it.
type run struct {
	cfg Config
	Summary
	// parts counts the parts read so far. The number of a part is a component of its id.
	parts int
}

// Run imports the rows of a file in order. If the file cannot be read or a part fails,
// it returns the summary so far with the error. It may be repeated: parts already done
// are not done again, unless cfg.Again. It reads the next part while one is being
// stored.
func Run(ctx context.Context, cfg Config, rows *contactfile.Reader) (Summary, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{cfg: cfg, Summary: Summary{RejectedLines: []int{}, NotMailableLines: []int{}}}
	parts, ended := make(chan []contactfile.Row), make(chan error, 1)
	go func() {
		defer close(parts)
		ended <- cut(ctx, rows, parts)
	}()
	for part := range parts {
		if err := r.do(ctx, part); err != nil {
			cancel(err)
			for range parts { // until the reader notices
				continue
			}
			return r.Summary, err
		}
	}
	return r.Summary, <-ended
}

// cut reads the file to its end and sends its parts. It returns nil at the end of the
// file. Otherwise it returns the error of reading, or the cause of the end of ctx.
func cut(ctx context.Context, rows *contactfile.Reader, parts chan<- []contactfile.Row) error {
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

// readPart reads rows until the part is full or the file ends. It returns the rows read
// so far together with an error, which is io.EOF at the end.
func readPart(rows *contactfile.Reader) ([]contactfile.Row, error) {
	var part []contactfile.Row
	for size := 0; len(part) < maxRows && size < maxPart; {
		row, err := rows.Next()
		if err != nil {
			return part, err
		}
		part = append(part, row)
		size += len(row.JSON)
	}
	return part, nil
}

// do imports one part. It rejects rows with a fault without storing them. It fails if
// the part cannot be stored, or a rejected row cannot be written.
func (r *run) do(ctx context.Context, part []contactfile.Row) error {
	r.parts++
	var rows []json.RawMessage
	var places []int
	for i, row := range part {
		if row.Fault == "" {
			rows, places = append(rows, row.JSON), append(places, i)
		}
	}
	reasons := make([]string, len(part))
	for i, row := range part {
		reasons[i] = row.Fault
	}
	if len(rows) > 0 {
		items, err := r.outcomes(ctx, rows)
		if err != nil {
			return err
		}
		for _, item := range items {
			r.count(item, part[places[item.Index]].Line, &reasons[places[item.Index]])
		}
	}
	return r.reject(part, reasons)
}

// count adds the outcome of one stored row to the summary. For a failed row it sets
// reason. line is the line on which the row begins.
func (r *run) count(item bulk.Item, line int, reason *string) {
	if item.Mailable != nil && !*item.Mailable {
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
		*reason = reasonOf(item)
	}
}

// reject counts the rows of a part and passes the rejected ones to cfg.Rejected. Then
// it reports progress. reasons holds a text for each row, "" for an accepted one.
func (r *run) reject(part []contactfile.Row, reasons []string) error {
	r.Rows += len(part)
	for i, row := range part {
		if reasons[i] == "" {
			continue
		}
		r.Rejected++
		if len(r.RejectedLines) < maxNoted {
			r.RejectedLines = append(r.RejectedLines, row.Line)
		}
		if err := r.cfg.Rejected(row, reasons[i]); err != nil {
			return err
		}
	}
	if r.cfg.Progress != nil {
		r.cfg.Progress(r.Summary)
	}
	return nil
}

// outcomes stores valid rows and returns their outcomes, with the index of each row in
// rows. With cfg.DryRun it stores nothing. For a part that an earlier run has done, it
// returns the outcomes of that run.
func (r *run) outcomes(ctx context.Context, rows []json.RawMessage) ([]bulk.Item, error) {
	if r.cfg.DryRun {
		return r.cfg.People.TryImport(ctx, r.cfg.OrgID, rows)
	}
	id := core.NewID()
	if !r.cfg.Again {
		id = idOf(r.cfg.OrgID, r.parts, rows)
		done, err := r.cfg.People.IsImported(ctx, r.cfg.OrgID, id)
		if err != nil {
			return nil, err
		}
		if done {
			r.DoneBefore += len(rows)
		}
	}
	return r.cfg.People.Import(ctx, r.cfg.OrgID, id, rows)
}

// idOf returns the id of a part. The same rows at the same place of a file have the
// same id, so a repeated run finds the parts it has done. A part with other rows, or at
// another place, has another id. The id is a UUID of version 8 (RFC 9562 section 5.8).
func idOf(orgID string, part int, rows []json.RawMessage) string {
	h := sha256.New()
	add := func(b []byte) {
		_ = binary.Write(h, binary.BigEndian, uint64(len(b))) // a hash accepts all writes
		_, _ = h.Write(b)
	}
	add([]byte("mailhelm import contacts 1"))
	add([]byte(orgID))
	add([]byte(fmt.Sprint(part)))
	for _, row := range rows {
		add(row)
	}
	id := uuid.UUID(h.Sum(nil)[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id.String()
}

// reasonOf returns, on one line, the reason why a row was refused. It begins with the
// code of the error and names each invalid member.
func reasonOf(item bulk.Item) string {
	words := make([]string, 0, len(item.Errors))
	for _, e := range item.Errors {
		words = append(words, strings.TrimSpace(e.Field+" "+e.Reason))
	}
	return item.Reason + ": " + strings.Join(words, "; ")
}
