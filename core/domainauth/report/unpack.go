package report

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
)

// maxLayers is the number of encodings around a document, such as base64 of a zip file of gzip.
const maxLayers = 4

// Unpack finds the documents in a file and calls each for every one, with the XML or what else it
// is. A file is XML, gzip, zip, or one of these in base64; names of files and media types say
// nothing, because reporters often give wrong ones. Unpack fails with ErrTooLarge, with ErrCorrupt if
// nothing can be read, and with the errors of r and of each. Documents of each fail with ErrCorrupt
// where compressed content is damaged, and with ErrTooLarge.
func Unpack(r io.Reader, l Limits, each func(document io.Reader) error) error {
	u := &unpacker{file: source{r: r}, limits: l, left: l.Bytes, documents: l.Documents, each: each}
	return u.unpack(&u.file, 0)
}

// source is the reader of a file. It keeps its error other than the end: storage reports a connection
// that was cut as io.ErrUnexpectedEOF, like decoders a file that is too short, and some decoders
// replace the errors of readers.
type source struct {
	r      io.Reader
	failed error
}

func (s *source) Read(p []byte) (int, error) {
	if s.failed != nil {
		return 0, s.failed
	}
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.failed = err
	}
	return n, err
}

// unpacker unpacks one file.
type unpacker struct {
	file   source
	limits Limits
	// left and documents are what is left of the limits.
	left      int64
	documents int
	each      func(io.Reader) error
}

func (u *unpacker) unpack(r io.Reader, layer int) error {
	in := bufio.NewReaderSize(r, windowBytes)
	head, err := in.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) && (len(head) == 0 || u.file.failed != nil) {
		return err
	}
	packed := layer < maxLayers
	switch {
	case packed && bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		inner, err := gzip.NewReader(in)
		if err != nil {
			return u.damaged(err)
		}
		return u.unpack(undamaged{inner, u}, layer+1)
	case packed && bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return u.unzip(in, layer+1)
	case packed && isBase64(head):
		return u.unpack(undamaged{base64.NewDecoder(base64.RawStdEncoding, &base64Text{in}), u}, layer+1)
	}
	if u.documents--; u.documents < 0 {
		return ErrTooLarge
	}
	return u.each(&bounded{in, &u.left})
}

// unzip unpacks the files of a zip file. Its directory is at its end, so it is held in memory.
func (u *unpacker) unzip(r io.Reader, layer int) error {
	content, err := io.ReadAll(io.LimitReader(r, u.limits.Packed+1))
	if err != nil {
		return err
	}
	if int64(len(content)) > u.limits.Packed {
		return ErrTooLarge
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return u.damaged(err)
	}
	for _, file := range archive.File {
		if file.FileInfo().IsDir() {
			continue
		}
		if err := u.unzipFile(file, layer); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) unzipFile(file *zip.File, layer int) error {
	content, err := file.Open()
	if err != nil {
		return u.damaged(err)
	}
	defer content.Close()
	return u.unpack(undamaged{content, u}, layer)
}

// bounded fails with ErrTooLarge after a number of bytes, which several readers share.
type bounded struct {
	r    io.Reader
	left *int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if *b.left < 0 {
		return 0, ErrTooLarge
	}
	// One byte more than is left shows whether the document is longer.
	n, err := b.r.Read(p[:min(int64(len(p)), *b.left+1)])
	if *b.left -= int64(n); *b.left < 0 {
		return n, ErrTooLarge
	}
	return n, err
}

// undamaged returns the errors of a decoder that stand for damaged content as ErrCorrupt.
type undamaged struct {
	r io.Reader
	u *unpacker
}

func (d undamaged) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = d.u.damaged(err)
	}
	return n, err
}

// damaged returns ErrCorrupt for an error of a decoder about its content, and other errors as they
// are: those of the reader below it, above all that of the file.
func (u *unpacker) damaged(err error) error {
	if u.file.failed != nil {
		return u.file.failed
	}
	_, inFlate := errors.AsType[flate.CorruptInputError](err)
	_, inBase64 := errors.AsType[base64.CorruptInputError](err)
	for _, known := range []error{gzip.ErrChecksum, gzip.ErrHeader, zip.ErrFormat, zip.ErrAlgorithm, zip.ErrChecksum, io.ErrUnexpectedEOF, io.EOF} {
		if inFlate || inBase64 || errors.Is(err, known) {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	}
	return err
}

// isBase64 reports whether a file can be base64 of something else. XML and JSON have characters that
// base64 does not have.
func isBase64(head []byte) bool {
	letters := 0
	for _, c := range head {
		if c == '=' || isSpace(c) {
			continue
		}
		if _, ok := base64Letter(c); !ok {
			return false
		}
		letters++
	}
	return letters >= 16
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// base64Letter returns a letter of base64 in its usual alphabet (RFC 4648 section 4).
func base64Letter(c byte) (byte, bool) {
	switch {
	case c == '-':
		return '+', true
	case c == '_':
		return '/', true
	case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '+', c == '/':
		return c, true
	}
	return 0, false
}

// base64Text is base64 without white space and padding, in the usual alphabet.
type base64Text struct{ r io.Reader }

func (b *base64Text) Read(p []byte) (int, error) {
	for {
		n, err := b.r.Read(p)
		kept := 0
		for _, c := range p[:n] {
			if c == '=' || isSpace(c) {
				continue
			}
			if usual, ok := base64Letter(c); ok {
				c = usual
			}
			p[kept], kept = c, kept+1
		}
		if kept > 0 || err != nil {
			return kept, err
		}
	}
}
