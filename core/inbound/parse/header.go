package parse

import (
	"bytes"
	"strings"
)

// rootFields has the fields of the message that Content has members for, as written: the
// first of each name.
type rootFields struct {
	from, to, cc, replyTo, subject, date *string
	messageID, inReplyTo, references     *string
}

// partFields has the fields that describe a part, as written: the first of each name.
type partFields struct {
	contentType, transferEncoding, disposition, contentID string
}

// field is where the value of a known field is stored.
func (r *rootFields) field(name string) **string {
	switch name {
	case "from":
		return &r.from
	case "to":
		return &r.to
	case "cc":
		return &r.cc
	case "reply-to":
		return &r.replyTo
	case "subject":
		return &r.subject
	case "date":
		return &r.date
	case "message-id":
		return &r.messageID
	case "in-reply-to":
		return &r.inReplyTo
	case "references":
		return &r.references
	}
	return nil
}

func (p *partFields) field(name string) *string {
	switch name {
	case "content-type":
		return &p.contentType
	case "content-transfer-encoding":
		return &p.transferEncoding
	case "content-disposition":
		return &p.disposition
	case "content-id":
		return &p.contentID
	}
	return nil
}

// headerReader collects the lines of one field after the other.
type headerReader struct {
	*indexer
	entity *entity
	// root is true for the header of the message, whose fields are returned.
	root bool
	// name is the name of the current field, empty before the first one.
	name  string
	value []byte
	cut   bool
}

// readHeader reads the header of an entity: up to an empty line, a delimiter of a multipart
// around it, or the end of the message. A line that is not a field is left out. If the first
// line is not a field, the entity has no header, and the line belongs to its body.
func (x *indexer) readHeader(e *entity, root bool) {
	h := headerReader{indexer: x, entity: e, root: root, value: x.value[:0]}
	for first := true; ; first = false {
		line, start, ok := x.src.line()
		if !ok || len(line) == 0 {
			break
		}
		if len(x.stack) > 0 && bytes.HasPrefix(line, dashesInside[1:]) {
			if i, _ := x.delimiter(line); i >= 0 {
				x.src.unread(start)
				break
			}
		}
		if line[0] == ' ' || line[0] == '\t' {
			if isBlank(line) && h.name == "" {
				break
			}
			h.continued(line)
			continue
		}
		name, value, isField := splitField(line)
		switch {
		case isField:
			h.end()
			h.name, h.cut = name, x.src.inLine
			h.add(value)
		case first && bytes.HasPrefix(line, []byte("From ")):
			// The separator line of a mailbox file.
		case first:
			x.warn(MalformedHeader, "")
			x.src.unread(start)
			x.value = h.value
			return
		default:
			x.warn(MalformedHeader, h.name)
		}
	}
	h.end()
	x.value = h.value
}

// splitField splits the first line of a field. Space before the colon is tolerated (RFC 5322
// section 4.5).
func splitField(line []byte) (name string, value []byte, ok bool) {
	i := bytes.IndexByte(line, ':')
	if i <= 0 || i > maxFieldName {
		return "", nil, false
	}
	trimmed := bytes.TrimRight(line[:i], " \t")
	for _, c := range trimmed {
		if c <= ' ' || c > '~' {
			return "", nil, false
		}
	}
	return string(trimmed), line[i+1:], len(trimmed) > 0
}

// continued adds a folded line to the current field.
func (h *headerReader) continued(line []byte) {
	if h.name == "" {
		h.warn(MalformedHeader, "")
		return
	}
	if len(h.value) < h.limits.ValueBytes {
		h.value = append(h.value, ' ')
	}
	h.cut = h.cut || h.src.inLine
	h.add(line)
}

// add adds text to the value of the current field.
func (h *headerReader) add(text []byte) {
	text = bytes.Trim(text, " \t")
	if room := h.limits.ValueBytes - len(h.value); len(text) > room {
		text = text[:max(room, 0)]
		h.cut = true
	}
	h.value = append(h.value, text...)
}

// end stores the current field.
func (h *headerReader) end() {
	if h.name == "" {
		return
	}
	if h.cut {
		h.warn(ValueCut, h.name)
	}
	value := bytes.TrimRight(h.value, " ")
	h.store(strings.ToLower(h.name), value)
	if h.root {
		h.list(h.name, value)
	}
	h.name, h.value, h.cut = "", h.value[:0], false
}

// store stores the value if the field is known. The first field of a name counts.
func (h *headerReader) store(name string, value []byte) {
	if to := h.entity.field(name); to != nil {
		switch {
		case *to == "":
			*to = string(value)
		default:
			h.warn(DuplicateField, h.name)
		}
		return
	}
	if !h.root {
		return
	}
	if to := h.fields.field(name); to != nil {
		if *to != nil {
			h.warn(DuplicateField, h.name)
			return
		}
		text := string(value)
		*to = &text
	}
}

// list appends the field to Content.Headers.
func (h *headerReader) list(name string, value []byte) {
	c := h.content
	if len(c.Headers) >= h.limits.Headers || h.headerBytes >= h.limits.HeaderBytes {
		h.warn(HeaderLimit, name)
		return
	}
	decoded := h.unstructured(string(value))
	if room := max(h.limits.HeaderBytes-h.headerBytes-len(name), 0); len(decoded) > room {
		h.warn(HeaderLimit, name)
		decoded = cutString(decoded, room)
	}
	h.headerBytes += len(name) + len(decoded)
	c.Headers = append(c.Headers, Header{Name: name, Value: decoded})
}

// unstructured decodes the value of a field that is text, such as Subject, to one line of
// at most Limits.ValueBytes.
func (p *parser) unstructured(value string) string {
	return oneLine(p.decodeWords(value), p.limits.ValueBytes)
}

func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
