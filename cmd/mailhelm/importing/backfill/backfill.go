// Package backfill imports stored events from a file with one event a line. It owns
// reading such files. Package core/messages parses an event and detects duplicates.
package backfill

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

const (
	// maxBatch is the largest number of events in one transaction.
	maxBatch = 500
	// maxLine is the longest line in bytes: an event of the largest size, wrapped in a
	// notification, with every character escaped.
	maxLine = 2 * messages.MaxSESEvent
	// maxNoted is the largest number of lines of one kind that a summary names.
	maxNoted = 10
	// lookEvery is the number of lines after which Run reports progress and checks ctx, at
	// the latest.
	lookEvery = 10_000
	// maxFailures is the number of consecutive failures that ends a run. So many are not
	// caused by single events.
	maxFailures = 20
)

// byteOrderMark starts the text files of some programs.
var byteOrderMark = []byte("\xef\xbb\xbf")

// Recorder stores new events in one transaction and skips those already stored.
type Recorder interface {
	Record(ctx context.Context, orgID string, events []messages.Event) (messages.Recorded, error)
}

// Config configures a run. Progress may be nil.
type Config struct {
	Events Recorder
	OrgID  string
	Clock  core.Clock
	// Progress receives the summary so far from time to time.
	Progress func(Summary)
}

// Summary is the result of a run.
type Summary struct {
	// Lines counts lines that are not empty. Events counts their events: one line may
	// concern several recipients.
	Lines      int `json:"lines"`
	Events     int `json:"events"`
	New        int `json:"new"`
	Duplicates int `json:"duplicates"`
	// Malformed counts lines without an event, Failed lines whose events could not be
	// stored. MalformedLines and FailedLines hold the first line numbers, from 1.
	Malformed      int   `json:"malformed"`
	MalformedLines []int `json:"malformed_lines"`
	Failed         int   `json:"failed"`
	FailedLines    []int `json:"failed_lines"`
}

// run is the state of a run.
type run struct {
	cfg Config
	Summary
	// batch holds the lines that are not stored yet.
	batch    []line
	size     int // events in batch
	failures int // in a row
}

// line is one line of the file with its events. number counts from 1, including empty
// lines.
type line struct {
	number int
	events []messages.Event
}

// Run imports the events of a file, plain or compressed with gzip. It skips lines
// without an event and events that cannot be stored. It stops when ctx ends or too many
// consecutive lines cannot be stored, and returns the summary so far with the error. It
// may be repeated: events that are already stored are skipped.
func Run(ctx context.Context, cfg Config, file io.Reader) (Summary, error) {
	r := &run{cfg: cfg, Summary: Summary{MalformedLines: []int{}, FailedLines: []int{}}}
	err := r.read(ctx, file)
	r.tell()
	return r.Summary, err
}

// tell reports the summary so far to cfg.Progress.
func (r *run) tell() {
	if r.cfg.Progress != nil {
		r.cfg.Progress(r.Summary)
	}
}

// read takes every line of the file and stores the events in batches. It returns nil at
// the end of the file, and the first error otherwise. Events before the failed line are
// stored first.
func (r *run) read(ctx context.Context, file io.Reader) error {
	lines, err := decompress(stoppable{ctx, file})
	if err != nil {
		return err
	}
	for number := 1; ; number++ {
		text, whole, err := readLine(lines)
		if number == 1 {
			text = bytes.TrimPrefix(text, byteOrderMark)
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			r.Lines++
			r.take(number, text, whole)
		}
		// A file may have any number of lines without an event. A small compressed file
		// can hold very many.
		if r.size >= maxBatch || number%lookEvery == 0 || err != nil {
			if failed := r.flush(ctx); failed != nil {
				return failed
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
}

// stoppable is a file that fails when ctx ends, even within an endless line.
type stoppable struct {
	ctx  context.Context //nolint:containedctx // lives as long as the call it belongs to
	file io.Reader
}

// Read reads the next bytes, or returns the cause of the end of ctx.
func (s stoppable) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.file.Read(b)
}

// decompress returns the file, decompressed if it is gzip. It detects gzip by the first
// bytes, not by the name. A damaged gzip file can also fail later, when it is read.
func decompress(file io.Reader) (*bufio.Reader, error) {
	raw := bufio.NewReaderSize(file, 64<<10)
	if start, _ := raw.Peek(2); !bytes.Equal(start, []byte{0x1f, 0x8b}) { // a shorter file is not gzip
		return raw, nil
	}
	unzipped, err := gzip.NewReader(raw)
	if err != nil {
		return nil, fmt.Errorf("the file begins as gzip and is not: %w", err)
	}
	return bufio.NewReaderSize(unzipped, 64<<10), nil
}

// readLine reads to the end of a line. Of a line that is too long it returns the
// beginning, and false.
func readLine(lines *bufio.Reader) ([]byte, bool, error) {
	var text []byte
	whole := true
	for {
		part, err := lines.ReadSlice('\n')
		if len(text)+len(part) <= maxLine {
			text = append(text, part...)
		} else {
			whole = false
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, whole, err
		}
	}
}

// take adds the events of a line to the batch, or counts the line as malformed. whole
// is false for a line that was cut off. It ignores the notice with which Amazon SES
// tests a topic.
func (r *run) take(number int, text []byte, whole bool) {
	event := messages.UnwrapSES(text)
	if messages.IsSESNotice(event) {
		return
	}
	events, err := messages.ParseSES(event, r.cfg.Clock())
	if err != nil || !whole {
		r.Malformed++
		r.MalformedLines = appendLine(r.MalformedLines, number)
		return
	}
	r.Events += len(events)
	r.batch, r.size = append(r.batch, line{number, events}), r.size+len(events)
}

// appendLine appends a line number unless the list holds maxNoted already.
func appendLine(lines []int, number int) []int {
	if len(lines) < maxNoted {
		lines = append(lines, number)
	}
	return lines
}

// flush stores the batch. If that fails, it stores the batch line by line. It returns
// the cause of the end of ctx, or an error after too many failures in a row.
func (r *run) flush(ctx context.Context) error {
	if r.size == 0 {
		r.tell()
		return context.Cause(ctx)
	}
	err := r.store(ctx, r.batch...)
	if err != nil {
		err = r.oneByOne(ctx)
	}
	r.batch, r.size = r.batch[:0], 0
	r.tell()
	return err
}

// oneByOne stores each line of the batch in a transaction of its own. It counts a line
// that fails and continues, so that one bad event does not prevent the others. It stops
// after maxFailures failures in a row.
func (r *run) oneByOne(ctx context.Context) error {
	for _, l := range r.batch {
		err := r.store(ctx, l)
		if err == nil {
			r.failures = 0
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.Failed++
		r.FailedLines = appendLine(r.FailedLines, l.number)
		if r.failures++; r.failures == maxFailures {
			return fmt.Errorf("line %d and the %d before it could not be stored: %w", l.number, maxFailures-1, err)
		}
	}
	return nil
}

// store stores the events of lines in one transaction and adds the result to the
// summary. On an error none of them is stored.
func (r *run) store(ctx context.Context, lines ...line) error {
	var events []messages.Event
	for _, l := range lines {
		events = append(events, l.events...)
	}
	recorded, err := r.cfg.Events.Record(ctx, r.cfg.OrgID, events)
	r.New, r.Duplicates = r.New+recorded.New, r.Duplicates+recorded.Duplicates
	return err
}
