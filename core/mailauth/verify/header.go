package verify

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// The limits of a header that is read. The time of the DKIM library grows with the lines
// multiplied by the length of a field, and with the fields multiplied by the names that a
// signature lists.
const (
	maxHeader      = 256 << 10
	usualHeader    = 16 << 10 // is read first
	maxLines       = 4000
	maxFields      = 1000
	maxFromField   = 8 << 10
	maxSignedNames = 250
)

var (
	errUnreadable = errors.New("the message cannot be read")
	errHeaderSize = errors.New("the header is too large")
)

// header has the fields of a message that decide about its authentication. The rules for
// reading it are those of the DKIM library, so that both see the same fields: a name may be
// followed by spaces, and is compared without regard to case.
type header struct {
	// from and signatures have the values of the From and DKIM-Signature fields, unfolded,
	// in the order of the header.
	from, signatures []string
	// complete is true if an empty line ends the header.
	complete bool
}

// readHeader reads the header of a message. It fails with errUnreadable if the message
// cannot be read, and with errHeaderSize if the header has too many octets or fields.
func readHeader(message io.ReaderAt, size int64) (header, error) {
	buffer, err := readStart(message, min(size, usualHeader))
	if err == nil && !bytes.Contains(buffer, []byte("\r\n\r\n")) {
		buffer, err = readStart(message, min(size, maxHeader))
	}
	if err != nil {
		return header{}, err
	}
	var h header
	var fields [][]byte
	for lines := 0; len(buffer) > 0 && !h.complete; lines++ {
		line, rest, ended := bytes.Cut(buffer, []byte("\n"))
		if !ended && size > maxHeader {
			return header{}, errHeaderSize // the rest of the line is not known
		}
		buffer = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		switch {
		case len(line) == 0:
			h.complete = true
		case len(fields) > 0 && (line[0] == ' ' || line[0] == '\t'):
			fields[len(fields)-1] = append(fields[len(fields)-1], line...)
		default:
			fields = append(fields, bytes.Clone(line))
		}
		if len(fields) > maxFields || lines > maxLines {
			return header{}, errHeaderSize
		}
	}
	if !h.complete && size > maxHeader {
		return header{}, errHeaderSize
	}
	h.keep(fields)
	return h, nil
}

// readStart returns the first octets of a message.
func readStart(message io.ReaderAt, size int64) ([]byte, error) {
	buffer := make([]byte, size)
	if n, err := message.ReadAt(buffer, 0); n < len(buffer) || err != nil && !errors.Is(err, io.EOF) {
		return nil, errUnreadable
	}
	return buffer, nil
}

// keep sets from and signatures.
func (h *header) keep(fields [][]byte) {
	for _, field := range fields {
		name, value, _ := bytes.Cut(field, []byte(":"))
		switch name = bytes.TrimSpace(name); {
		case strings.EqualFold(string(name), "From"):
			h.from = append(h.from, string(value))
		case strings.EqualFold(string(name), "DKIM-Signature"):
			h.signatures = append(h.signatures, string(value))
		}
	}
}
