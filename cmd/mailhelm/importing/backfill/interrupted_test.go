package backfill_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/importing/backfill"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestInterruptedRunIsRepeated interrupts an import after different numbers of batches and
// repeats it. The analytics must then count each event once, as after an uninterrupted
// import.
func TestInterruptedRunIsRepeated(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		figures := reports.New(reports.Config{Store: db.Reports(), Clock: clock})
		with := messages.New(messages.Config{Store: db.Messages(), Transactor: db, Clock: clock, Recorders: []messages.Recorder{figures}})
		const lines = 1200
		for _, after := range []int{0, 1, 3} {
			orgID := core.NewID()
			ctx, kill := context.WithCancel(t.Context())
			progressCalls := 0
			cfg := backfill.Config{Events: with, OrgID: orgID, Clock: clock, Progress: func(backfill.Summary) {
				if progressCalls++; progressCalls > after {
					kill()
				}
			}}
			first, err := backfill.Run(ctx, cfg, sentLines(lines))
			kill()
			if !errors.Is(err, context.Canceled) || first.New == 0 || first.New == 2*lines {
				t.Fatalf("cut off: %+v, %v", first, err)
			}
			cfg.Progress = nil
			second, err := backfill.Run(t.Context(), cfg, sentLines(lines))
			want := backfill.Summary{
				Lines: lines, Events: 2 * lines, New: 2*lines - first.New, Duplicates: first.New, MalformedLines: []int{}, FailedLines: []int{},
			}
			if diff := cmp.Diff(want, second); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			days, err := db.Reports().DayCounts(t.Context(), orgID, reports.Filter{Window: core.Window{From: now.AddDate(0, 0, -2), To: now.AddDate(0, 0, 2)}})
			if err != nil || len(days) != 1 || days[0].Counts != (reports.Counts{Sent: 2 * lines}) {
				t.Errorf("counted %+v, %v", days, err)
			}
		}
	})
}

func TestFilesOfOtherSystems(t *testing.T) {
	t.Parallel()
	cfg := backfill.Config{Events: taker(storagetest.SQLite(t)), OrgID: "org", Clock: clock}
	file := "\xef\xbb\xbf" + sent(1) + "\r\n\r\n" + sent(2) + "\r\n" + strings.Repeat("y", 1<<20) + "\r\n" + sent(3)
	want := backfill.Summary{Lines: 4, Events: 6, New: 6, Malformed: 1, MalformedLines: []int{4}, FailedLines: []int{}}
	got, err := backfill.Run(t.Context(), cfg, strings.NewReader(file))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, sent(4)+"\n"+sent(5)+"\n") // a buffer accepts all writes
	_ = z.Close()
	for name, broken := range map[string]io.Reader{
		"cut off": bytes.NewReader(zipped.Bytes()[:zipped.Len()-10]), "unreadable": io.MultiReader(strings.NewReader(sent(4)+"\n"), faulty{}),
	} {
		if _, err := backfill.Run(t.Context(), cfg, broken); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

type faulty struct{}

var errMedium = errors.New("input/output error")

func (faulty) Read([]byte) (int, error) { return 0, errMedium }

// endless is a file without an end, which repeats the value of the field text. It calls
// stop once, when the number of reads reaches the value of the field after.
type endless struct {
	text  string
	stop  func()
	after int
	reads int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.reads++; e.reads == e.after {
		e.stop()
	}
	for i := range b {
		b[i] = e.text[i%len(e.text)]
	}
	return len(b), nil
}

// TestEndlessFilesCanBeStopped checks that an import of a file without an end can be
// stopped. It also checks that a small gzip file with one very long line is counted as one
// malformed line.
func TestEndlessFilesCanBeStopped(t *testing.T) {
	t.Parallel()
	cfg := backfill.Config{Events: taker(storagetest.SQLite(t)), OrgID: "org", Clock: clock}
	for _, text := range []string{"x\n", "\n", "x"} {
		ctx, stop := context.WithCancel(t.Context())
		progressCalls := 0
		cfg.Progress = func(backfill.Summary) { progressCalls++ }
		_, err := backfill.Run(ctx, cfg, &endless{text: text, stop: stop, after: 20})
		stop()
		if !errors.Is(err, context.Canceled) || (text != "x" && progressCalls < 2) {
			t.Errorf("%q: %v, told %d times", text, err, progressCalls)
		}
	}
	bomb := gzipBomb(64 << 20)
	if len(bomb) > 1<<20 {
		t.Fatal("no bomb")
	}
	got, err := backfill.Run(t.Context(), cfg, bytes.NewReader(bomb))
	if err != nil || got.Lines != 1 || got.Malformed != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func gzipBomb(size int) []byte {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	part := bytes.Repeat([]byte("x"), 1<<20)
	for range size >> 20 {
		_, _ = z.Write(part) // a buffer takes everything
	}
	_ = z.Close()
	return zipped.Bytes()
}
