package report

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

const (
	// maxResults and maxReasons bound the results and the reasons of a record.
	maxResults, maxReasons = 100, 20
	// maxBefore bounds the elements before the root element that are passed over.
	maxBefore = 16
	// maxErrors bounds the messages of the reporter that are kept.
	maxErrors = 20
)

// Parse reads a report in XML and calls visit for each record, which visit must not keep. It fails
// with ErrNotReport or ErrTLSReport if the content is another one, and with the errors of r and of
// visit. If r ends early, or fails with ErrCorrupt, what was read until then is the report, with a
// warning. Fields of the report that come after a record, which some programs write, are only known
// at the end.
func Parse(r io.Reader, visit func(*Record) error) (*Report, error) {
	p := &parser{visit: visit, report: &Report{}, value: make([]byte, 0, maxValue)}
	in, err := p.inUTF8(r)
	if err != nil {
		return nil, err
	}
	p.scan = newScanner(in, func() { p.warn(StrayMarkup, nil) })
	p.stack = append(p.stack, element{at: atDocument})
	if err := p.run(); err != nil {
		return nil, err
	}
	p.finish()
	return p.report, nil
}

// parser reads one report.
type parser struct {
	scan   *scanner
	visit  func(*Record) error
	report *Report
	words  words
	// stack has the open elements, whose names have their prefixes. The first is the document.
	stack []element
	// before counts the elements before the root element.
	before int
	// deeper counts the open elements that exceed maxDepth.
	deeper int
	spaces namespaces
	// value is the text of the innermost element.
	value []byte

	// These have what was read of the elements that are open.
	record     Record
	signature  Signature
	spf        SPFResult
	reason     Reason
	begin, end uint64 // seconds of the Unix epoch
	// known has the figures of the report and of the record that have a value.
	known [placeCount]bool
	// sourceText and countText are the values of the record as the reporter wrote them.
	sourceText, countText []byte
}

// errEnd ends run after the root element.
var errEnd = errors.New("the end of the root element")

// run reads the document to the end of its root element.
func (p *parser) run() error {
	for {
		kind, err := p.scan.next(p.inValue(), p.stack[len(p.stack)-1].name)
		switch kind {
		case endOfDocument:
			return p.cut(err)
		case startToken:
			err = p.start()
		case endToken:
			err = p.endTag(p.scan.token.text)
		default:
			p.text(kind)
		}
		if err != nil {
			if !errors.Is(err, errEnd) {
				return err
			}
			p.checkRest()
			return nil
		}
	}
}

// inValue reports whether the innermost element has a text.
func (p *parser) inValue() bool {
	return p.stack[len(p.stack)-1].at >= firstText && p.deeper == 0
}

// cut ends the report where the document ended early. err is that of the reader.
func (p *parser) cut(err error) error {
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return err
	}
	if len(p.stack) == 1 {
		if err != nil {
			return err
		}
		return ErrNotReport
	}
	p.warn(Truncated, nil)
	p.dropCut()
	if err := p.closeTo(0); !errors.Is(err, errEnd) {
		return err
	}
	return nil
}

// dropCut leaves out what the document ends within: a value, which may be a part of another one, and
// a record whose row is open, because it does not say yet whether the messages passed.
func (p *parser) dropCut() {
	p.value = p.value[:0]
	for depth, e := range p.stack {
		if e.at == atRow {
			p.stack = p.stack[:depth-1]
			return
		}
	}
}

// checkRest warns if something follows the root element.
func (p *parser) checkRest() {
	for range 8 { // comments and white space are no content
		kind, err := p.scan.next(true, "")
		if err != nil || kind == endOfDocument {
			return
		}
		if text := p.scan.token.text; kind != textToken || len(bytes.TrimSpace(text)) > 0 {
			p.warn(ContentAfterEnd, text)
			return
		}
	}
}

// text appends to the value of the innermost element, if it has one.
func (p *parser) text(kind tokenKind) {
	text := p.scan.token.text
	if !p.inValue() {
		return
	}
	// A reference is longer than what it stands for.
	if room := maxValue - len(p.value); len(text) > room+4*maxReference {
		text = text[:room+4*maxReference]
		p.warn(ValueTooLong, text)
	}
	if kind == literalToken {
		p.value = append(p.value, text...)
	} else {
		p.value = appendDecoded(p.value, text, func(reference []byte) { p.warn(UnknownEntity, reference) })
	}
	if len(p.value) > maxValue {
		p.value = p.value[:maxValue]
		p.warn(ValueTooLong, p.value)
	}
}

// start opens an element. If it cannot be inside of the innermost one, but inside of one around
// it, those between have no end tags and end here.
func (p *parser) start() error {
	t := &p.scan.token
	if p.deeper > 0 || len(p.stack) == maxDepth {
		if p.deeper == 0 {
			p.warn(TooDeep, t.text)
		}
		if !t.empty {
			p.deeper++
		}
		return nil
	}
	prefix, local := []byte(nil), t.text
	if t.colon > 0 {
		prefix, local = t.text[:t.colon], t.text[t.colon+1:]
	}
	foreign := p.spaces.open(prefix, t.attributes, &p.words)
	if len(p.stack) == 1 {
		return p.root(prefix, local)
	}
	var e element
	if !foreign {
		var depth int
		if e, depth = p.find(local); e.at != nowhere && depth < len(p.stack)-1 {
			p.warn(MissingEndTag, local)
			if err := p.closeTo(depth); err != nil {
				return err
			}
		}
	}
	if e.at == nowhere || t.colon >= 0 {
		e.name = p.words.of(t.text)
	}
	return p.push(e)
}

// root opens the root element.
func (p *parser) root(prefix, local []byte) error {
	if string(local) != "feedback" {
		// Some reports begin with a part of a schema.
		if p.before++; p.before > maxBefore {
			return ErrNotReport
		}
		p.warn(ContentBeforeStart, local)
		return nil
	}
	p.report.Namespace = p.spaces.root(prefix, &p.words)
	if !knownNamespace(p.report.Namespace) {
		p.warn(UnknownNamespace, []byte(p.report.Namespace))
	}
	return p.push(element{atFeedback, p.words.of(p.scan.token.text)})
}

// find returns an element inside of the innermost element or of one around it, and the depth of
// that one. Inside of an element that the format does not have, there is none.
func (p *parser) find(local []byte) (element, int) {
	for depth := len(p.stack) - 1; depth > 0 && p.stack[depth].at != nowhere; depth-- {
		if e := p.stack[depth].at.child(local); e.at != nowhere {
			return e, depth
		}
	}
	return element{}, 0
}

// push makes an element the innermost one. Its name has the prefix.
func (p *parser) push(e element) error {
	p.spaces.bind(len(p.stack))
	p.stack = append(p.stack, e)
	p.opened(e.at)
	if p.scan.empty {
		return p.closeTo(len(p.stack) - 2)
	}
	return nil
}

// endTag ends the element with a name, and those inside of it that have no end tags.
func (p *parser) endTag(tag []byte) error {
	if p.deeper > 0 {
		p.deeper--
		return nil
	}
	inner := len(p.stack) - 1
	for depth := inner; depth > 0; depth-- {
		if p.stack[depth].name != string(tag) {
			continue
		}
		if depth < inner {
			p.warn(MissingEndTag, []byte(p.stack[inner].name))
		}
		return p.closeTo(depth - 1)
	}
	p.warn(StrayEndTag, tag)
	return nil
}

// closeTo ends the innermost elements until depth is that of the innermost one. It returns errEnd
// after the root element.
func (p *parser) closeTo(depth int) error {
	for inner := len(p.stack) - 1; inner > depth; inner-- {
		at := p.stack[inner].at
		p.stack = p.stack[:inner]
		p.spaces.close(inner)
		if at >= firstValue {
			p.assign(at, p.clean())
			p.value = p.value[:0]
		} else if err := p.closed(at); err != nil {
			return err
		}
	}
	if depth == 0 {
		return errEnd
	}
	return nil
}

// clean returns the value without surrounding space, invalid bytes, and NUL, which XML does not
// allow and PostgreSQL does not store.
func (p *parser) clean() []byte {
	v := trimEnd(p.value)
	for len(v) > 0 && isSpace(v[0]) {
		v = v[1:]
	}
	if !utf8.Valid(v) || bytes.IndexByte(v, 0) >= 0 {
		p.warn(InvalidEncoding, v)
		v = readable(v)
	}
	return v
}

// readable returns a text with U+FFFD in place of what clean removes.
func readable(v []byte) []byte {
	replacement := []byte("\uFFFD")
	return bytes.ReplaceAll(bytes.ToValidUTF8(v, replacement), []byte{0}, replacement)
}

// warn counts a warning.
func (p *parser) warn(code WarningCode, detail []byte) {
	for i := range p.report.Warnings {
		if w := &p.report.Warnings[i]; w.Code == code {
			w.Count++
			return
		}
	}
	w := Warning{Code: code, Count: 1, Detail: string(readable(detail[:min(len(detail), maxDetail)]))}
	if p.scan != nil {
		w.Offset = p.scan.offset()
	}
	p.report.Warnings = append(p.report.Warnings, w)
}
