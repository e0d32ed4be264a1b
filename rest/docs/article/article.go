package article

import (
	"regexp"
	"strings"
)

// Article is a page of the documentation.
type Article struct {
	// Path is the page's path below the address of the documentation, such as
	// "/guides/contacts". It is "" for the start page.
	Path  string
	Title string
	// Group is the heading in the navigation below which the page is listed. Part is the
	// folder within the group, or "". A page without a group is not in the navigation.
	Group, Part string
	// Label is the page's name in the navigation; "" means Title.
	Label string
	// Parent is the path of the page above this one, for a page whose breadcrumbs have one.
	Parent string
	// Summary is one paragraph of Markdown: what the page describes, or what the reader has
	// at its end.
	Summary string
	// Minutes is how long the steps of a guide take; 0 means that it has no steps.
	Minutes int
	// Body is Markdown without the title and the summary. Addresses of links begin with "/"
	// for a page of the documentation, or are "op:NAME" for the page of an operation.
	Body string
	// Examples are shown beside the text.
	Examples []Example
}

// Name returns the page's name in the navigation.
func (a Article) Name() string {
	if a.Label != "" {
		return a.Label
	}
	return a.Title
}

// Example is a block of the column beside the text: a heading with one or more texts. With
// several texts, such as requests in several languages, the reader selects one.
type Example struct {
	Title string
	Texts []Code
}

// Code is a text of an example. Label names it among the texts of its example. Language is
// that of a Markdown code block, such as "json".
type Code struct{ Label, Language, Text string }

// Escape returns a plain text as Markdown that shows the text unchanged, except that parts
// between backquotes stay code.
func Escape(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if i > 0 {
			b.WriteByte('`')
		}
		if i%2 == 1 {
			b.WriteString(part)
			continue
		}
		for _, c := range part {
			if strings.ContainsRune(`\*_[]<>#|~&`, c) {
				b.WriteByte('\\')
			}
			b.WriteRune(c)
		}
	}
	return b.String()
}

// Cell returns a text of Markdown for the cell of a table: on one line, with its bars
// escaped.
func Cell(markdown string) string {
	joined := strings.Join(strings.Fields(markdown), " ")
	return strings.ReplaceAll(strings.ReplaceAll(joined, `\|`, "|"), "|", `\|`)
}

// Plain returns a paragraph of Markdown without marks, for texts in which they would
// disturb.
func Plain(markdown string) string {
	return marks.ReplaceAllString(linkText.ReplaceAllString(markdown, "$1"), "$1")
}

var (
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	marks    = regexp.MustCompile("[`*]|\\\\(.)")
)
