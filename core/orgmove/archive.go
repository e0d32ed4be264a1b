package orgmove

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"time"

	"filippo.io/age"
)

// The names of files in an archive, and the beginnings of names.
const (
	headerName   = "organization.json"
	manifestName = "manifest.json"
	rowsPrefix   = "rows/"
	objectPrefix = "objects/"
)

// The limits of files in bytes. They bound the memory of an import, whatever the archive says.
const (
	// maxJSON is the limit of the header and of the manifest.
	maxJSON = 32 << 20
	// partBytes is the size at which a part of the rows of a table ends. The last row may exceed it.
	partBytes = 1 << 20
	// maxRow is the limit of one row: uploaded parts of files, and results of bulk writes are the
	// largest.
	maxRow  = 48 << 20
	maxPart = partBytes + maxRow
	// maxObject is the limit of an object. A received message has at most 40 MB.
	maxObject = 128 << 20
)

// partName returns the name of a part of the rows of a table.
func partName(table string, n int) string {
	return rowsPrefix + table + "/" + strconv.Itoa(n) + ".jsonl"
}

// sum adds up the lines of a table.
type sum struct {
	rows int64
	hash hash.Hash
}

func newSum() *sum { return &sum{hash: sha256.New()} }

func (s *sum) table(name string) TableSum {
	return TableSum{Name: name, Rows: s.rows, SHA256: hex.EncodeToString(s.hash.Sum(nil))}
}

// objectSums adds up objects.
type objectSums struct {
	count, bytes int64
	hash         hash.Hash
}

func newObjectSums() *objectSums { return &objectSums{hash: sha256.New()} }

// begin notes an object. The caller then writes its content to the hash.
func (s *objectSums) begin(key string, size int64) {
	s.count++
	s.bytes += size
	_, _ = fmt.Fprintf(s.hash, "%s\n%d\n", key, size) // a hash never fails
}

func (s *objectSums) sum() ObjectSum {
	return ObjectSum{Count: s.count, Bytes: s.bytes, SHA256: hex.EncodeToString(s.hash.Sum(nil))}
}

// writer writes the files of an archive.
type writer struct {
	sealed io.WriteCloser
	packed *gzip.Writer
	files  *tar.Writer
}

func newWriter(to io.Writer, recipients []age.Recipient) (*writer, error) {
	sealed, err := age.Encrypt(to, recipients...)
	if err != nil {
		return nil, fmt.Errorf("encrypt the archive: %w", err)
	}
	packed, err := gzip.NewWriterLevel(sealed, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	return &writer{sealed, packed, tar.NewWriter(packed)}, nil
}

// begin begins a file. The caller then writes size bytes to files. All files have the same time,
// so that the same organization gives the same files.
func (w *writer) begin(name string, size int64) error {
	return w.files.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o600, ModTime: time.Unix(0, 0), Typeflag: tar.TypeReg})
}

func (w *writer) file(name string, content []byte) error {
	if err := w.begin(name, int64(len(content))); err != nil {
		return err
	}
	_, err := w.files.Write(content)
	return err
}

func (w *writer) close() error {
	return errors.Join(w.files.Close(), w.packed.Close(), w.sealed.Close())
}

// reader reads the files of an archive.
type reader struct {
	plain  io.Reader
	packed *gzip.Reader
	files  *tar.Reader
}

// errKey is the error for an archive that was encrypted for other keys.
func errKey() error {
	return refused("The archive does not open with this passphrase or key.", "Give those with which it was exported.")
}

func newReader(from io.Reader, identities []age.Identity) (*reader, error) {
	plain, err := age.Decrypt(from, identities...)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, errKey()
	}
	if err != nil {
		return nil, refused("This file is not an archive of 'mailhelm org export', or its beginning is damaged.", "Name the file that the export wrote.")
	}
	packed, err := gzip.NewReader(plain)
	if err != nil {
		return nil, damaged("it is not compressed as an export is")
	}
	packed.Multistream(false)
	return &reader{plain, packed, tar.NewReader(packed)}, nil
}

// next returns the name and the size of the next file.
func (r *reader) next() (string, int64, error) {
	h, err := r.files.Next()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "", 0, damaged("its end is missing")
	}
	if err != nil {
		return "", 0, damaged("it does not decrypt, or has no further file where one must be")
	}
	if h.Typeflag != tar.TypeReg || h.Size < 0 {
		return "", 0, damaged(fmt.Sprintf("%.200q is not a file", h.Name))
	}
	return h.Name, h.Size, nil
}

// content returns the content of the present file, which has size bytes.
func (r *reader) content(name string, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, damaged(fmt.Sprintf("%.200q has %d bytes, more than %d", name, size, limit))
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(r.files, content); err != nil {
		return nil, damaged("its end is missing")
	}
	return content, nil
}

// end fails if anything follows the last file.
func (r *reader) end() error {
	if _, err := r.files.Next(); !errors.Is(err, io.EOF) {
		return damaged("files follow the manifest")
	}
	// The rest of the streams shows that nothing was cut off or added.
	for _, stream := range []io.Reader{r.packed, r.plain} {
		rest, err := io.Copy(io.Discard, io.LimitReader(stream, maxJSON))
		if err != nil {
			return damaged("its end is missing")
		}
		if stream == r.plain && rest > 0 {
			return damaged("something follows its end")
		}
	}
	return nil
}
