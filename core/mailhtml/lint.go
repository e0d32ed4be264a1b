package mailhtml

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Severity says how much a finding matters.
type Severity string

// The severities.
const (
	// Error is for mail that should not be sent as it is.
	Error Severity = "error"
	// Warning is for what readers or spam filters will probably notice.
	Warning Severity = "warning"
	// Notice is for an improvement.
	Notice Severity = "notice"
)

// The codes of findings.
const (
	CodeImageWithoutAlt    = "image_without_alt"
	CodeTooLarge           = "too_large"
	CodeLinkWithoutHTTPS   = "link_without_https"
	CodeLinkWithoutTarget  = "link_without_target"
	CodeUnsubscribeMissing = "unsubscribe_missing"
	CodeMostlyImages       = "mostly_images"
	CodeLowContrast        = "low_contrast"
	CodeUnknownVariable    = "unknown_variable"
	CodeInvalidCSS         = "invalid_css"
	CodeTitleMissing       = "title_missing"
	CodeLanguageMissing    = "language_missing"
	CodeLongSubject        = "long_subject"
)

// Input is a mail to be checked.
type Input struct {
	// Subject, HTML and Text are templates. Text may be empty.
	Subject, HTML, Text string
	// Unsubscribe is true if recipients must be able to unsubscribe: the mail is marketing.
	Unsubscribe bool
	// Known has the names of the attributes that the templates may use. Variables are not
	// checked if it is nil.
	Known []string
	// Variables has the names of the variables that the templates use, such as "first_name"
	// or "order.total". Names from blocks that change the context are left out.
	Variables []string
}

// Finding is one thing in a mail that should be changed.
type Finding struct {
	Code     string
	Severity Severity
	// Message says what was found and what to do.
	Message string
	// Line and Column are the place in the HTML, from 1. Column counts characters. Both are 0
	// for a finding about the whole mail, its subject or its plain text.
	Line, Column int
}

// maxFindings is the maximum number of findings with the same code.
const maxFindings = 20

// Lint checks a mail. The findings about the whole mail are first, then those with a place,
// in the order of the source. There are at most 20 with the same code.
func Lint(in Input) []Finding {
	d := parse(in.HTML)
	sheets, err := d.applyRules()
	l := &linter{document: d, input: in, counts: map[string]int{}}
	if err != nil {
		l.whole(CodeInvalidCSS, Warning, "The style rules are too complex to be written into style attributes. Remove rules that are not used.")
	} else {
		d.hideStyled()
	}
	l.size()
	l.subject()
	l.unsubscribe()
	l.headers()
	l.syntax(sheets)
	l.tags()
	l.contrasts()
	l.variables()
	return l.sorted()
}

// linter collects the findings about one mail.
type linter struct {
	*document
	input    Input
	findings []placed
	counts   map[string]int
}

// placed is a finding with its byte offset in the HTML, -1 for the whole mail.
type placed struct {
	Finding
	at int
}

// report adds a finding at a byte offset, unless there are enough with its code.
func (l *linter) report(at int, code string, severity Severity, message string) {
	if l.counts[code]++; l.counts[code] <= maxFindings {
		l.findings = append(l.findings, placed{Finding{Code: code, Severity: severity, Message: message}, at})
	}
}

// whole adds a finding about the whole mail.
func (l *linter) whole(code string, severity Severity, message string) {
	l.report(-1, code, severity, message)
}

// sorted returns the findings in order, with their lines and columns.
func (l *linter) sorted() []Finding {
	slices.SortStableFunc(l.findings, func(a, b placed) int { return a.at - b.at })
	all := make([]Finding, len(l.findings))
	line, lineStart, at := 1, 0, 0
	for i, f := range l.findings {
		if f.at >= 0 {
			passed := l.source[at:f.at]
			line += strings.Count(passed, "\n")
			if n := strings.LastIndexByte(passed, '\n'); n >= 0 {
				lineStart = at + n + 1
			}
			at = f.at
			f.Line, f.Column = line, utf8.RuneCountInString(l.source[lineStart:at])+1
		}
		all[i] = f.Finding
	}
	return all
}

// clippingLimit is the size of HTML in bytes above which Gmail shows only the beginning of a
// mail. Google does not document it. It was measured in
// https://github.com/hteumeuleu/email-bugs/issues/41.
const clippingLimit = 102 * 1024

// size checks the length of the HTML.
func (l *linter) size() {
	if n := len(l.source); n > clippingLimit {
		l.whole(CodeTooLarge, Warning, fmt.Sprintf("The HTML has %d KB. Gmail cuts mail off after 102 KB, often before the unsubscribe link. "+
			"Shorten it, or remove unused styles and comments.", (n+1023)/1024))
	}
}

// subjectLimit is the number of characters of a subject that Apple Mail on an iPhone shows.
// The Gmail app shows fewer. Measured in
// https://www.emailtooltester.com/en/blog/email-subject-lines-character-limit/.
const subjectLimit = 48

// subject checks the length of the subject without Handlebars tags.
func (l *linter) subject() {
	n := 0
	eachPiece(l.input.Subject, func(piece string, tag bool) {
		if !tag {
			n += utf8.RuneCountInString(piece)
		}
	})
	if n > subjectLimit {
		l.whole(CodeLongSubject, Notice, fmt.Sprintf("The subject has %d characters. Phones show about %d. "+
			"Shorten it, or begin with what matters most.", n, subjectLimit))
	}
}

// unsubscribeName is the name of the variable with the recipient's unsubscribe address.
const unsubscribeName = "unsubscribe_url"

// unsubscribe checks that marketing mail has a visible link to unsubscribe. Gmail and Yahoo
// require one of bulk senders (https://support.google.com/a/answer/81126).
func (l *linter) unsubscribe() {
	if !l.input.Unsubscribe {
		return
	}
	if !slices.ContainsFunc(l.tokens, l.offersUnsubscribe) {
		l.whole(CodeUnsubscribeMissing, Error, `The mail has no unsubscribe link. Add <a href="{{unsubscribe_url}}">Unsubscribe</a>, for example at its end.`)
	}
	if strings.TrimSpace(l.input.Text) != "" && !usesName(l.input.Text, unsubscribeName) {
		l.whole(CodeUnsubscribeMissing, Warning, "The plain text has no unsubscribe link. Add {{unsubscribe_url}} to it.")
	}
}

// offersUnsubscribe reports whether a token shows the unsubscribe address or links to it.
func (l *linter) offersUnsubscribe(t token) bool {
	if t.element == nil || t.element.hidden {
		return false
	}
	switch t.kind {
	case handlebars:
		return usesName(l.raw(t), unsubscribeName)
	case startTag:
		href, _ := l.value(t, "href")
		return t.name == "a" && usesName(href, unsubscribeName)
	}
	return false
}

// usesName reports whether a Handlebars tag in s prints the variable.
func usesName(s, name string) bool {
	return nameOffset(s, name, func(tag string) bool { return roleOf(tag) == value }) >= 0
}

// nameOffset returns the byte offset of the first accepted Handlebars tag in s that has the
// name as a word, or -1.
func nameOffset(s, name string, accept func(tag string) bool) int {
	tags := tagFinder{source: s}
	for i := strings.Index(s, "{{"); i >= 0 && i < len(s); i++ {
		end := tags.end(i)
		if end == 0 {
			continue
		}
		if tag := s[i:end]; accept(tag) && hasWord(tag, name) {
			return i
		}
		i = end - 1
	}
	return -1
}

// hasWord reports whether s contains word and no letter, digit or "_" adjoins it.
func hasWord(s, word string) bool {
	for from := 0; word != ""; {
		n := strings.Index(s[from:], word)
		if n < 0 {
			return false
		}
		start, end := from+n, from+n+len(word)
		if (start == 0 || !isNameByte(s[start-1])) && (end == len(s) || !isNameByte(s[end])) {
			return true
		}
		from = start + 1
	}
	return false
}

func isNameByte(c byte) bool {
	return isLetter(c) || '0' <= c && c <= '9' || c == '_' || c >= utf8.RuneSelf
}
