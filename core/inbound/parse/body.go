package parse

import (
	"io"
	"strings"
)

// place is where a part is in the message.
type place struct {
	// parent is the media type of the multipart around the part, or "".
	parent string
	// index is the number of the part in it, from 0.
	index int
}

// bodies collects the bodies and attachments from the tree of parts.
type bodies struct {
	*parser
	text, html strings.Builder
	// withID has the indexes of attachments that HTML may refer to.
	withID map[string][]int
}

// collect adds an entity: the rules which part is a body are those of RFC 8621 section
// 4.1.4. In short, text/plain and text/html are bodies unless they are marked as an
// attachment, follow the first part of a multipart/related, or have a file name and are not
// the first part.
func (b *bodies) collect(e *entity, at place) {
	if e.divided && len(e.children) > 0 {
		for i, child := range e.children {
			b.collect(child, place{parent: e.mediaType, index: i})
		}
		return
	}
	if e.divided {
		b.empty(e)
		return
	}
	encoding, known := transferEncoding(e.transferEncoding)
	if !known {
		b.warn(UnknownEncoding, cutString(e.transferEncoding, maxCharsetName))
	}
	disposition, params := b.splitParams(e.disposition)
	name := params["filename"]
	if name == "" {
		name = e.params["name"]
	}
	isText := e.mediaType == "text/plain" || e.mediaType == "text/html"
	if isText && disposition != "attachment" && (at.index == 0 || at.parent != "multipart/related" && name == "") {
		b.body(e, encoding)
		return
	}
	b.attach(e, encoding, at, disposition, name)
}

// empty adds the content of a multipart without parts as text, unless it is blank.
func (b *bodies) empty(e *entity) {
	if e.end <= e.start {
		return
	}
	b.warn(EmptyMultipart, "")
	e.mediaType, e.params = "text/plain", nil
	encoding, _ := transferEncoding(e.transferEncoding)
	b.body(e, encoding)
}

// body decodes a text part and adds it to TextBody or HTMLBody.
func (b *bodies) body(e *entity, encoding string) {
	to, isHTML := &b.text, e.mediaType == "text/html"
	if isHTML {
		to = &b.html
	}
	room := b.limits.BodyBytes - to.Len()
	if room <= 0 {
		if e.end > e.start {
			b.warn(BodyCut, "")
		}
		return
	}
	decoder := decodeTransfer(encoding, io.NewSectionReader(b.raw, e.start, e.end-e.start))
	raw, more := b.readSome(decoder, room, e.end-e.start)
	if decoder.damaged() {
		b.warn(DamagedEncoding, "")
	}
	label := normalLabel(e.params["charset"])
	if isHTML && label == "" {
		label = htmlCharset(raw)
	}
	if more {
		if isUTF8, isASCII := isUTF8Label(label); isUTF8 || isASCII {
			raw = []byte(withoutHalf(string(raw)))
		}
	}
	text := b.decodeCharset(label, raw, room+1)
	if len(text) > room {
		more = true
	}
	if more {
		b.warn(BodyCut, "")
	}
	if s := to.String(); s != "" && text != "" && !strings.HasSuffix(s, "\n") {
		to.WriteByte('\n')
	}
	appendLines(to, text, b.limits.BodyBytes)
}

// appendLines appends text with line ends as "\n" and without NUL, until b has limit bytes.
func appendLines(b *strings.Builder, text string, limit int) {
	b.Grow(min(len(text)+2*strings.Count(text, "\x00"), max(0, limit-b.Len())))
	for text != "" && b.Len() < limit {
		i := strings.IndexAny(text, "\r\x00")
		if i < 0 {
			i = len(text)
		}
		b.WriteString(cutString(text[:i], limit-b.Len()))
		if i == len(text) {
			return
		}
		if text[i] == 0 {
			if limit-b.Len() >= len("\uFFFD") {
				b.WriteString("\uFFFD")
			}
			text = text[i+1:]
			continue
		}
		text = strings.TrimPrefix(text[i+1:], "\n")
		if b.Len() < limit {
			b.WriteByte('\n')
		}
	}
}

// attach adds a part as an attachment.
func (b *bodies) attach(e *entity, encoding string, at place, disposition, name string) {
	a := Attachment{
		Filename:    cleanFilename(name),
		ContentType: e.mediaType,
		ContentID:   cleanID(e.contentID),
		raw:         b.raw, start: e.start, end: e.end, encoding: encoding,
	}
	if strings.HasPrefix(e.mediaType, "multipart/") {
		a.encoding = "" // RFC 2045 section 6.4
	}
	switch disposition {
	case "attachment":
	case "inline":
		a.Inline = true
	default:
		a.Inline = a.ContentID != "" || at.parent == "multipart/related" || at.parent == "multipart/alternative"
	}
	a.Size = b.size(&a)
	if a.ContentID != "" && !a.Inline {
		if b.withID == nil {
			b.withID = map[string][]int{}
		}
		b.withID[a.ContentID] = append(b.withID[a.ContentID], len(b.content.Attachments))
	}
	b.content.Attachments = append(b.content.Attachments, a)
}

// size returns the number of bytes that Open returns.
func (b *bodies) size(a *Attachment) int64 {
	if a.encoding == "" {
		return a.end - a.start
	}
	decoder := decodeTransfer(a.encoding, io.NewSectionReader(a.raw, a.start, a.end-a.start))
	n, err := io.Copy(io.Discard, decoder)
	if err != nil {
		b.err = err
	}
	if decoder.damaged() {
		b.warn(DamagedEncoding, a.Filename)
	}
	return n
}

// finish sets the bodies, and marks attachments as inline that the HTML refers to.
func (b *bodies) finish() {
	b.content.TextBody = b.text.String()
	b.content.HTMLBody = b.html.String()
	if len(b.withID) == 0 {
		return
	}
	rest := b.content.HTMLBody
	for range maxEmbedded {
		i := strings.Index(rest, "cid:")
		if i < 0 {
			return
		}
		rest = rest[i+len("cid:"):]
		end := strings.IndexAny(rest[:min(len(rest), maxIDBytes)], "\"'<> )\n")
		if end < 0 {
			end = min(len(rest), maxIDBytes)
		}
		for _, index := range b.withID[rest[:end]] {
			b.content.Attachments[index].Inline = true
		}
	}
}
