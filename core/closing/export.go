package closing

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ExportStore reads the rows of an export.
type ExportStore interface {
	// ExportFiles returns the names of the files with rows, in the order of the export.
	ExportFiles() []string
	// CountExport returns the number of rows of all files together.
	CountExport(ctx context.Context, orgID string) (int, error)
	// ExportPage returns rows of a file as JSON objects, after the position that the call before
	// returned as next; nil is the first position. next is nil at the end. A page has bounded
	// memory.
	ExportPage(ctx context.Context, file, orgID string, after []any) (rows []json.RawMessage, next []any, err error)
}

// Export writes the data of an organization into a zip archive.
type Export struct {
	Rows ExportStore
	// Definitions returns the files of a bundle with the definitions of an organization, by
	// path.
	Definitions func(ctx context.Context, orgID string) (map[string][]byte, error)
	Clock       core.Clock
	// Progress is called after each page of rows, with the number of rows that were written. nil
	// means that no progress is shown.
	Progress func(file string, rows int)
}

// exportReadme describes the files of an export.
const exportReadme = `This archive has the data of one organization of Mailhelm.

definitions/                attributes, lists, segments, topics, templates and workflows, as a bundle
contacts.jsonl              contacts with their attributes and the global opt-out (unsubscribe_all)
topic-choices.jsonl         the choice of each contact about each topic
list-members.jsonl          the members of lists
suppressed-addresses.jsonl  addresses on the suppression list of the sending account
undeliverable.jsonl         addresses that bounced or complained
messages.jsonl              the log of messages
message-events.jsonl        what happened to the messages

Each line of a .jsonl file is one JSON object. Times are in RFC 3339. Images, received mail, API
keys and the audit log are not in the archive.
`

// Write writes the archive and returns the number of rows by file. It needs the memory of the
// definitions and of one page of rows. If it fails, the archive is not complete.
func (e Export) Write(ctx context.Context, to io.Writer, org core.Org) (map[string]int, error) {
	definitions, err := e.Definitions(ctx, org.ID)
	if err != nil {
		return nil, fmt.Errorf("definitions: %w", err)
	}
	w := archiveWriter{zip: zip.NewWriter(to), at: e.Clock()}
	about, err := json.MarshalIndent(map[string]any{"id": org.ID, "slug": org.Slug, "name": org.Name, "exported_at": w.at.UTC()}, "", "  ")
	if err != nil {
		return nil, err
	}
	w.add("README.txt", []byte(exportReadme))
	w.add("organization.json", append(about, '\n'))
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		w.add(path.Join("definitions", name), definitions[name])
	}
	written, done := map[string]int{}, 0
	for _, file := range e.Rows.ExportFiles() {
		n, err := e.writeRows(ctx, &w, org.ID, file, done)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		written[file], done = n, done+n
	}
	if w.err != nil {
		return nil, w.err
	}
	if err := w.zip.Close(); err != nil {
		return nil, fmt.Errorf("end of archive: %w", err)
	}
	return written, nil
}

// writeRows writes all rows of a file and returns their number. done is the number of rows that
// were written before.
func (e Export) writeRows(ctx context.Context, w *archiveWriter, orgID, file string, done int) (int, error) {
	into := w.create(file)
	n := 0
	var after []any
	for {
		rows, next, err := e.Rows.ExportPage(ctx, file, orgID, after)
		if err != nil {
			return n, err
		}
		for _, row := range rows {
			if _, err := into.Write(append(row, '\n')); err != nil {
				return n, err
			}
		}
		n += len(rows)
		if e.Progress != nil {
			e.Progress(file, done+n)
		}
		if after = next; next == nil {
			return n, nil
		}
	}
}

// archiveWriter adds files to a zip archive. After its first error it adds nothing.
type archiveWriter struct {
	zip *zip.Writer
	at  time.Time
	err error
}

// create begins a file. Its content ends with the next call of create.
func (w *archiveWriter) create(name string) io.Writer {
	if w.err != nil {
		return failedWriter{w.err}
	}
	into, err := w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: w.at})
	if err != nil {
		w.err = fmt.Errorf("archive: %w", err)
		return failedWriter{w.err}
	}
	return into
}

func (w *archiveWriter) add(name string, content []byte) {
	if _, err := w.create(name).Write(content); err != nil && w.err == nil {
		w.err = fmt.Errorf("archive: %w", err)
	}
}

// failedWriter fails with the error of an archive.
type failedWriter struct{ err error }

func (f failedWriter) Write([]byte) (int, error) { return 0, f.err }
