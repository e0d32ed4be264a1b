// Package backfill imports past email events from a file with one event on each line. It
// reads the file. Package core/messages parses the events and detects duplicates.
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
	// maxBatch is the number of waiting events at which Run stores them in one transaction.
	// The last line may have several events, so a batch can be larger.
	maxBatch = 500
	// maxLine is the maximum length of a line in bytes. It is twice the size of the largest
	// event, because an Amazon SNS notification may escape every character of the event.
	maxLine = 2 * messages.MaxSESEvent
	// maxNoted is the maximum number of malformed lines, and of failed lines, whose numbers
	// the summary lists.
	maxNoted = 10
	// lookEvery is the number of lines after which Run reports progress and checks ctx, even
	// if no batch was stored.
	lookEvery = 10_000
	// maxFailures is the number of consecutive lines that cannot be stored after which Run
	// gives up. So many failures mean that the database is unavailable.
	maxFailures = 20
)

// byteOrderMark is the UTF-8 byte order mark, with which some programs begin text files.
var byteOrderMark = []byte("\xef\xbb\xbf")

// Recorder stores new events in one transaction and skips those already stored.
type Recorder interface {
	Record(ctx context.Context, orgID string, events []messages.Event) (messages.Recorded, error)
}

// Config configures an import of events. Progress may be nil.
type Config struct {
	Events Recorder
	OrgID  string
	Clock  core.Clock
	// Progress receives the current summary after each batch and at least every 10,000
	// lines.
	Progress func(Summary)
}

// Summary counts the lines and events of one import.
type Summary struct {
	// Lines is the number of lines that are not empty. Events is the number of events on
	// them; an event with several recipients counts once for each.
	Lines      int `json:"lines"`
	Events     int `json:"events"`
	New        int `json:"new"`
	Duplicates int `json:"duplicates"`
	// Malformed is the number of lines without a valid event. Failed is the number of lines
	// whose events could not be stored. MalformedLines and FailedLines are the line numbers,
	// counted from 1, of the first ten lines of each group.
	Malformed      int   `json:"malformed"`
	MalformedLines []int `json:"malformed_lines"`
	Failed         int   `json:"failed"`
	FailedLines    []int `json:"failed_lines"`
}

// run is the state of one import.
type run struct {
	cfg Config
	Summary
	// batch holds the lines that were read but not stored yet.
	batch    []line
	size     int // events in batch
	failures int // in a row
}

// line is one line of the file with its parsed events. number is its line number from 1;
// empty lines count too.
type line struct {
	number int
	events []messages.Event
}

// Run imports the events of a file, plain or compressed with gzip. It skips malformed lines
// and events that cannot be stored. It stops if ctx ends or 20 consecutive lines cannot be
// stored, and returns the summary so far with the error. It may be repeated: it skips
// events that are already stored.
func Run(ctx context.Context, cfg Config, file io.Reader) (Summary, error) {
	r := &run{cfg: cfg, Summary: Summary{MalformedLines: []int{}, FailedLines: []int{}}}
	err := r.read(ctx, file)
	r.reportProgress()
	return r.Summary, err
}

// reportProgress reports the summary so far to cfg.Progress.
func (r *run) reportProgress() {
	if r.cfg.Progress != nil {
		r.cfg.Progress(r.Summary)
	}
}

// read reads all lines of the file and stores their events in batches. It returns nil at
// the end of the file, and otherwise the first error. Before it returns a read error, it
// stores the events read so far.
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
		// Lines without an event never fill a batch, and even a small compressed file can
		// contain very many of them. So flush is also called after every lookEvery lines,
		// to report progress and to notice the end of ctx.
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

// stoppable wraps a file. Its reads fail after ctx has ended, so that even a line without
// an end can be interrupted.
type stoppable struct {
	ctx  context.Context //nolint:containedctx // lives as long as the call it belongs to
	file io.Reader
}

// Read reads from the file. After ctx has ended, it does not read and returns the cause of
// the end.
func (s stoppable) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.file.Read(b)
}

// decompress returns a reader of the file that decompresses gzip. It detects gzip by the
// first two bytes, not by the file name. Damage in the compressed data may appear only when
// the result is read.
func decompress(file io.Reader) (*bufio.Reader, error) {
	raw := bufio.NewReaderSize(file, 64<<10)
	// Peek returns fewer bytes for a shorter file, which is not gzip
	if start, _ := raw.Peek(2); !bytes.Equal(start, []byte{0x1f, 0x8b}) {
		return raw, nil
	}
	unzipped, err := gzip.NewReader(raw)
	if err != nil {
		return nil, fmt.Errorf("the file begins like gzip but cannot be unpacked: %w", err)
	}
	return bufio.NewReaderSize(unzipped, 64<<10), nil
}

// readLine reads one line to its end. If the line is longer than maxLine, it returns only
// the beginning, and false.
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

// take adds the events of a line to the batch, or counts the line as malformed. The
// parameter whole is false if the line was longer than maxLine. take ignores the message
// that Amazon SES sends to test an SNS topic.
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

// appendLine appends a line number to lines, unless lines contains maxNoted numbers
// already.
func appendLine(lines []int, number int) []int {
	if len(lines) < maxNoted {
		lines = append(lines, number)
	}
	return lines
}

// flush stores the batch in one transaction. If that fails, it stores each line on its own.
// It returns an error if ctx has ended or after maxFailures consecutive failures.
func (r *run) flush(ctx context.Context) error {
	if r.size == 0 {
		r.reportProgress()
		return context.Cause(ctx)
	}
	err := r.store(ctx, r.batch...)
	if err != nil {
		err = r.oneByOne(ctx)
	}
	r.batch, r.size = r.batch[:0], 0
	r.reportProgress()
	return err
}

// oneByOne stores each line of the batch in its own transaction, so that one invalid event
// does not prevent the others. It counts the lines that fail. It returns an error if ctx
// has ended or after maxFailures consecutive failures.
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

// store stores the events of the lines in one transaction and adds the numbers of new and
// duplicate events to the summary. If it fails, it has stored none of the events.
func (r *run) store(ctx context.Context, lines ...line) error {
	var events []messages.Event
	for _, l := range lines {
		events = append(events, l.events...)
	}
	recorded, err := r.cfg.Events.Record(ctx, r.cfg.OrgID, events)
	r.New, r.Duplicates = r.New+recorded.New, r.Duplicates+recorded.Duplicates
	return err
}
