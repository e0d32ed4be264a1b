package parse

import (
	"errors"
	"io"
	"strings"
)

// parser parses one message.
type parser struct {
	raw     io.ReaderAt
	limits  Limits
	content *Content
	fields  rootFields
	// headerBytes is the size of Content.Headers so far.
	headerBytes int
	// value is a buffer for header values.
	value []byte
	// decoded is a buffer for decoded text.
	decoded []byte
	err     error
}

// Parse reads the message in raw, which is size bytes long. raw must remain readable as long
// as attachments are opened. An error means that raw could not be read, not that something
// is wrong with the message. Several messages may be parsed at the same time.
func Parse(raw io.ReaderAt, size int64, limits Limits) (*Content, error) {
	p := &parser{raw: raw, limits: limits.withDefaults(), content: &Content{}}
	if err := p.checkEnd(size); err != nil {
		return nil, err
	}
	src := newSource(raw, max(size, 0))
	x := indexer{parser: p, src: src}
	root := x.index()
	src.release()
	if src.err != nil {
		return nil, src.err
	}
	p.readFields()
	b := bodies{parser: p}
	b.collect(root, place{})
	b.finish()
	if p.err != nil {
		return nil, p.err
	}
	return p.content, nil
}

// checkEnd reads the last byte, so that a message that was not stored completely is an error
// instead of a shorter message.
func (p *parser) checkEnd(size int64) error {
	if size <= 0 {
		return nil
	}
	n, err := p.raw.ReadAt(make([]byte, 1), size-1)
	switch {
	case n == 1:
		return nil
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}

// warn adds a warning, unless there is one with the code.
func (p *parser) warn(code Code, detail string) {
	for _, w := range p.content.Warnings {
		if w.Code == code {
			return
		}
	}
	p.content.Warnings = append(p.content.Warnings, Warning{Code: code, Detail: visible(detail, maxFieldName)})
}

// readFields sets the members of Content that come from the header.
func (p *parser) readFields() {
	c, f := p.content, &p.fields
	from := p.addresses(f.from, "From")
	if len(from) > 1 {
		p.warn(MultipleFrom, "")
	}
	if len(from) > 0 {
		c.From = from[0]
	}
	c.To = p.addresses(f.to, "To")
	c.Cc = p.addresses(f.cc, "Cc")
	c.ReplyTo = p.addresses(f.replyTo, "Reply-To")
	if f.subject != nil {
		c.Subject = p.unstructured(*f.subject)
	}
	c.Date = p.date(f.date)
	c.HeaderMessageID = firstID(f.messageID)
	c.InReplyTo = firstID(f.inReplyTo)
	c.References = identifiers(f.references)
}

func firstID(value *string) string {
	if all := identifiers(value); len(all) > 0 {
		return all[0]
	}
	return ""
}

// identifiers returns the message identifiers in a field (RFC 5322 section 3.6.4) without
// angle brackets, the last 100 of them. A field without brackets is divided at spaces.
func identifiers(value *string) []string {
	if value == nil {
		return nil
	}
	var all []string
	if !strings.Contains(*value, "<") {
		all = strings.Fields(*value)
	} else {
		for rest := *value; ; {
			_, after, ok := strings.Cut(rest, "<")
			if !ok {
				break
			}
			id, after, closed := strings.Cut(after, ">")
			all = append(all, id)
			if rest = after; !closed {
				break
			}
		}
	}
	kept := all[max(0, len(all)-maxReferences):]
	result := make([]string, 0, len(kept))
	for _, id := range kept {
		if id = cleanID(id); id != "" {
			result = append(result, id)
		}
	}
	return result
}

// cleanID returns an identifier without spaces and invisible characters, or "" if it is too
// long. An identifier is never cut, because it could then equal another one.
func cleanID(id string) string {
	if len(id) > maxIDBytes {
		return ""
	}
	return strings.ReplaceAll(visible(strings.Trim(id, "<> \t"), maxIDBytes), " ", "")
}

// readSome reads at most limit bytes. more is true if there are further ones. An error of the
// message's storage is remembered.
func (p *parser) readSome(r io.Reader, limit int, sizeHint int64) (text []byte, more bool) {
	text = make([]byte, 0, int(min(sizeHint, int64(limit)))+16)
	for len(text) <= limit {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.err = err
			}
			break
		}
	}
	if len(text) > limit {
		return text[:limit], true
	}
	return text, false
}
