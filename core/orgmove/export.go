package orgmove

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"filippo.io/age"
	"github.com/mailhelm/mailhelm/core"
)

// Source reads an organization. All calls in InSnapshot see the same state.
type Source interface {
	InSnapshot(ctx context.Context, do func(ctx context.Context) error) error
	// Header returns the header without Format, Program, ExportedAt and Stopped. It fails with
	// core.CodeNotFound for an unknown organization.
	Header(ctx context.Context, orgID string) (Header, error)
	// Count returns the number of rows of all tables.
	Count(ctx context.Context, orgID string) (int64, error)
	// Rows calls line with the rows of a table, each without a line break, in the order of its key.
	// The line is valid until the call returns. Secrets are open.
	Rows(ctx context.Context, orgID, table string, line func(line []byte) error) error
}

// ObjectSource reads the objects of an organization.
type ObjectSource interface {
	// Each calls do with each object, in an order of its own. open may be called several times.
	Each(ctx context.Context, orgID string, do func(key string, open func() (io.ReadCloser, error)) error) error
}

// Export writes archives.
type Export struct {
	Source  Source
	Objects ObjectSource
	Clock   core.Clock
	// Program is the version of the program.
	Program string
	// Progress gets the number of rows that were written, and the number of all, at each part.
	Progress func(done, total int64, note string)
}

// Exported is the result of an export.
type Exported struct {
	Header   Header
	Manifest Manifest
}

// Write writes an archive of an organization that only the recipients can open. stopped says that
// the organization is stopped. Memory does not grow with the organization. After an error, what
// was written is useless.
func (e Export) Write(ctx context.Context, to io.Writer, recipients []age.Recipient, orgID string, stopped bool) (Exported, error) {
	var done Exported
	w, err := newWriter(to, recipients)
	if err != nil {
		return done, err
	}
	err = e.Source.InSnapshot(ctx, func(ctx context.Context) error {
		if done.Header, err = e.Source.Header(ctx, orgID); err != nil {
			return err
		}
		h := &done.Header
		h.Format, h.Program, h.ExportedAt, h.Stopped = Format, e.Program, e.Clock().UTC(), stopped
		if err := writeJSON(w, headerName, h); err != nil {
			return err
		}
		done.Manifest.Tables, err = e.tables(ctx, w, orgID, h.Tables)
		return err
	})
	if err != nil {
		return done, err
	}
	// Objects never change after they were stored, and rows that were deleted since name those
	// that are missing.
	if done.Manifest.Objects, err = e.objects(ctx, w, orgID); err != nil {
		return done, err
	}
	if err := writeJSON(w, manifestName, done.Manifest); err != nil {
		return done, err
	}
	return done, w.close()
}

func writeJSON(w *writer, name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if len(text) > maxJSON {
		return fmt.Errorf("%s has %d bytes, more than %d", name, len(text), maxJSON)
	}
	return w.file(name, append(text, '\n'))
}

// tables writes the rows of all tables.
func (e Export) tables(ctx context.Context, w *writer, orgID string, all []Table) ([]TableSum, error) {
	total, err := e.Source.Count(ctx, orgID)
	if err != nil {
		return nil, err
	}
	sums := make([]TableSum, 0, len(all))
	var done int64
	for _, t := range all {
		s := newSum()
		part := parts{w: w, table: t.Name, sum: s}
		err := e.Source.Rows(ctx, orgID, t.Name, func(line []byte) error {
			flushed, err := part.add(line)
			if flushed {
				e.Progress(done+s.rows, total, t.Name)
			}
			return err
		})
		if err == nil {
			err = part.flush()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		done += s.rows
		e.Progress(done, total, t.Name)
		sums = append(sums, s.table(t.Name))
	}
	return sums, nil
}

// parts divides the rows of a table into files.
type parts struct {
	w      *writer
	table  string
	sum    *sum
	buffer bytes.Buffer
	n      int
}

// add adds a row. It reports whether a file was written.
func (p *parts) add(line []byte) (bool, error) {
	if len(line) > maxRow {
		return false, fmt.Errorf("a row has %d bytes, more than %d", len(line), maxRow)
	}
	p.buffer.Write(line)
	p.buffer.WriteByte('\n')
	p.sum.rows++
	if p.buffer.Len() < partBytes {
		return false, nil
	}
	return true, p.flush()
}

// flush writes the rows of the buffer to a file.
func (p *parts) flush() error {
	if p.buffer.Len() == 0 {
		return nil
	}
	p.n++
	p.sum.hash.Write(p.buffer.Bytes())
	err := p.w.file(partName(p.table, p.n), p.buffer.Bytes())
	p.buffer.Reset()
	return err
}

// objects writes all objects.
func (e Export) objects(ctx context.Context, w *writer, orgID string) (ObjectSum, error) {
	sums := newObjectSums()
	err := e.Objects.Each(ctx, orgID, func(key string, open func() (io.ReadCloser, error)) error {
		size, err := sizeOf(open)
		if core.IsNotFound(err) {
			return nil // deleted since it was listed
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		sums.begin(key, size)
		return writeObject(w, key, size, open, sums)
	})
	return sums.sum(), err
}

// sizeOf reads an object to find its size.
func sizeOf(open func() (io.ReadCloser, error)) (int64, error) {
	body, err := open()
	if err != nil {
		return 0, err
	}
	defer func() { _ = body.Close() }() // it was only read
	size, err := io.Copy(io.Discard, body)
	if err == nil && size > maxObject {
		err = fmt.Errorf("it has %d bytes, more than %d", size, maxObject)
	}
	return size, err
}

func writeObject(w *writer, key string, size int64, open func() (io.ReadCloser, error), sums *objectSums) error {
	body, err := open()
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	defer func() { _ = body.Close() }() // it was only read
	if err := w.begin(objectPrefix+key, size); err != nil {
		return err
	}
	if _, err := io.Copy(io.MultiWriter(w.files, sums.hash), body); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}
