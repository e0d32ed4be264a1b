package parse

import (
	"bytes"
	"strings"
)

// entity is the message or one of its MIME parts.
type entity struct {
	partFields
	mediaType string
	params    map[string]string
	// start and end are the offsets of the body.
	start, end int64
	// children has the parts of a multipart, in their order.
	children []*entity
	// divided is true for a multipart whose parts were looked for.
	divided bool
}

// frame is a multipart whose closing delimiter has not been reached.
type frame struct {
	*entity
	boundary string
}

// indexer finds the parts of a message. It remembers only their offsets.
type indexer struct {
	*parser
	src   *source
	stack []frame
	// leaf is the part whose body is being read, nil before and after the parts of a
	// multipart.
	leaf  *entity
	parts int
}

// index returns the message as a tree of its parts.
func (x *indexer) index() *entity {
	root := x.begin(nil)
	for len(x.stack) > 0 {
		line, end, ok := x.src.dashes()
		if !ok {
			break
		}
		i, closing := x.delimiter(line)
		if i < 0 {
			continue
		}
		x.endBodies(i+1, end)
		if closing {
			x.stack[i].end = max(x.stack[i].start, end)
			x.stack = x.stack[:i]
			continue
		}
		x.begin(x.stack[i].entity)
	}
	if len(x.stack) > 0 {
		x.warn(Unterminated, x.stack[0].boundary)
	}
	x.endBodies(0, x.src.size)
	return root
}

// begin reads the header of an entity and returns it. parent is the multipart in which it
// is, or nil.
func (x *indexer) begin(parent *entity) *entity {
	if x.parts++; x.parts > x.limits.Parts {
		x.warn(PartLimit, "")
		return nil
	}
	e := &entity{}
	x.readHeader(e, parent == nil)
	e.start = x.src.offset()
	e.mediaType, e.params = x.mediaType(e.contentType, parent)
	if parent != nil {
		parent.children = append(parent.children, e)
	}
	if !strings.HasPrefix(e.mediaType, "multipart/") {
		x.leaf = e
		return e
	}
	if len(x.stack) >= x.limits.Depth {
		x.warn(NestingLimit, "")
		x.leaf = e
		return e
	}
	boundary := strings.TrimRight(e.params["boundary"], " \t")
	if len(boundary) > maxBoundaryBytes {
		boundary = ""
	}
	if boundary == "" {
		x.warn(MissingBoundary, "")
	}
	e.divided = true
	x.stack = append(x.stack, frame{e, boundary})
	return e
}

// endBodies ends the body of the current part, and of the multiparts from index i, at the
// offset end.
func (x *indexer) endBodies(i int, end int64) {
	if x.leaf != nil {
		x.leaf.end = max(x.leaf.start, end)
		x.leaf = nil
	}
	for _, f := range x.stack[i:] {
		f.end = max(f.start, end)
	}
	x.stack = x.stack[:i]
}

// delimiter returns the index in the stack of the multipart that a line is a delimiter of
// (RFC 2046 section 5.1.1), and whether it is the closing one. The index is -1 if the line is
// no delimiter. The innermost multipart is asked first. The whole line must be equal, because
// one boundary may be the beginning of another one.
func (x *indexer) delimiter(line []byte) (i int, closing bool) {
	name := bytes.TrimRight(line[2:], " \t\r")
	if len(name) > maxBoundaryBytes+2 {
		return -1, false
	}
	for i := len(x.stack) - 1; i >= 0; i-- {
		boundary := x.stack[i].boundary
		if boundary == "" || !bytes.HasPrefix(name, []byte(boundary)) {
			continue
		}
		switch string(name[len(boundary):]) {
		case "":
			return i, false
		case "--":
			return i, true
		}
	}
	if i := len(x.stack) - 1; i >= 0 && x.stack[i].boundary == "" && len(name) > 0 && len(name) <= maxBoundaryBytes {
		x.stack[i].boundary = string(name)
		return i, false
	}
	return -1, false
}
