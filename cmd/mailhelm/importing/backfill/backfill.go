// Package backfill takes in events that were kept somewhere else, from a file with
// one event a line. It owns reading such files; what an event says and whether it
// is there already is core/messages'.
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
	// maxBatch is how many events one transaction takes.
	maxBatch = 500
	// maxLine is the longest line: an event of the greatest size, wrapped in a
	// notification, in which every character may be escaped.
	maxLine = 2 * messages.MaxSESEvent
	// maxNoted is how many lines of one kind are named in a summary.
	maxNoted = 10
	// lookEvery is after how many lines at most somebody is told how far it is, and
	// asked whether to go on.
	lookEvery = 10_000
	// maxFailures in a row are no longer the fault of single events.
	maxFailures = 20
)

// byteOrderMark is what some programs begin a text with.
var byteOrderMark = []byte("\xef\xbb\xbf")

// Recorder stores events that are not there yet, in one transaction.
type Recorder interface {
	Record(ctx context.Context, orgID string, events []messages.Event) (messages.Recorded, error)
}

// Config is what a run needs. Progress may be nil.
type Config struct {
	Events Recorder
	OrgID  string
	Clock  core.Clock
	// Progress is told from time to time what became of the file so far.
	Progress func(Summary)
}

// Summary is what became of a file.
type Summary struct {
	// Lines counts lines that hold anything, Events what they hold: one line may be
	// about several recipients.
	Lines      int `json:"lines"`
	Events     int `json:"events"`
	New        int `json:"new"`
	Duplicates int `json:"duplicates"`
	// Malformed lines hold no event, Failed ones an event that could not be stored.
	// The first of each are named by their numbers, from 1.
	Malformed      int   `json:"malformed"`
	MalformedLines []int `json:"malformed_lines"`
	Failed         int   `json:"failed"`
	FailedLines    []int `json:"failed_lines"`
}

// run is a file being read.
type run struct {
	cfg Config
	Summary
	batch    []line
	size     int // events in batch
	failures int // in a row
}

type line struct {
	number int
	events []messages.Event
}

// Run takes in the events of a file, plain or compressed with gzip. It goes on
// after lines that hold no event and events that cannot be stored, and ends with
// the summary so far when ctx does or the database is lost. What was stored
// before is skipped, so the same file may be run again.
func Run(ctx context.Context, cfg Config, file io.Reader) (Summary, error) {
	r := &run{cfg: cfg, Summary: Summary{MalformedLines: []int{}, FailedLines: []int{}}}
	err := r.read(ctx, file)
	r.tell()
	return r.Summary, err
}

func (r *run) tell() {
	if r.cfg.Progress != nil {
		r.cfg.Progress(r.Summary)
	}
}

func (r *run) read(ctx context.Context, file io.Reader) error {
	lines, err := uncompressed(stoppable{ctx, file})
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
		// A file may have any number of lines without an event, and a small one that is
		// compressed has room for many.
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

// stoppable ends a file with ctx, within a line that has no end as well.
type stoppable struct {
	ctx  context.Context //nolint:containedctx // lives as long as the call it belongs to
	file io.Reader
}

// Read reads on.
func (s stoppable) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.file.Read(b)
}

// uncompressed looks at how the file begins, not at its name.
func uncompressed(file io.Reader) (*bufio.Reader, error) {
	raw := bufio.NewReaderSize(file, 64<<10)
	if start, _ := raw.Peek(2); !bytes.Equal(start, []byte{0x1f, 0x8b}) { // too short is no gzip
		return raw, nil
	}
	unzipped, err := gzip.NewReader(raw)
	if err != nil {
		return nil, fmt.Errorf("the file begins as gzip and is not: %w", err)
	}
	return bufio.NewReaderSize(unzipped, 64<<10), nil
}

// readLine reads to the end of a line. Of one that is too long it keeps the
// beginning and says that it is not whole.
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

func (r *run) take(number int, text []byte, whole bool) {
	event := messages.UnwrapSES(text)
	if messages.IsSESNotice(event) {
		return
	}
	events, err := messages.ParseSES(event, r.cfg.Clock())
	if err != nil || !whole {
		r.Malformed++
		r.MalformedLines = noted(r.MalformedLines, number)
		return
	}
	r.Events += len(events)
	r.batch, r.size = append(r.batch, line{number, events}), r.size+len(events)
}

func noted(lines []int, number int) []int {
	if len(lines) < maxNoted {
		lines = append(lines, number)
	}
	return lines
}

// flush stores the batch, line by line when it cannot be stored as a whole.
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
		r.FailedLines = noted(r.FailedLines, l.number)
		if r.failures++; r.failures == maxFailures {
			return fmt.Errorf("line %d and the %d before it could not be stored: %w", l.number, maxFailures-1, err)
		}
	}
	return nil
}

func (r *run) store(ctx context.Context, lines ...line) error {
	var events []messages.Event
	for _, l := range lines {
		events = append(events, l.events...)
	}
	recorded, err := r.cfg.Events.Record(ctx, r.cfg.OrgID, events)
	r.New, r.Duplicates = r.New+recorded.New, r.Duplicates+recorded.Duplicates
	return err
}
