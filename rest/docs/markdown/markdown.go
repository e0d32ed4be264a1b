package markdown

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Renderer converts Markdown to HTML. It may be used concurrently.
type Renderer struct {
	md goldmark.Markdown
}

// New returns a Renderer. An image with the address figure:NAME becomes the content of
// NAME.svg in figures, with the image's text as its accessible name.
func New(figures fs.FS) *Renderer {
	return &Renderer{goldmark.New(
		goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithHeadingAttribute()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(elements{figures}, 1))),
	)}
}

// Document is the result of rendering a Markdown source.
type Document struct {
	HTML template.HTML
	// Headings has the headings of the levels 2 and 3, in order.
	Headings []Heading
	// Sections has the texts of the document, in order. The first has no heading.
	Sections []Section
}

// Heading is a heading with its id.
type Heading struct {
	ID, Text string
	Level    int
}

// Section is the plain text from a heading to the next one. Rows has the rows of its tables
// that have an id.
type Section struct {
	Heading

	Body string
	Rows []Row
}

// Row is a row of a table. Key is the code in its first cell, Text is the text of the other
// cells.
type Row struct{ ID, Key, Text string }

// Render converts a source to HTML. link returns the address to write for the address of a
// link in the source. Render fails if the source has raw HTML or names an unknown figure.
func (r *Renderer) Render(source string, link func(string) string) (Document, error) {
	content := []byte(source)
	root := r.md.Parser().Parse(text.NewReader(content))
	w := &walk{source: content, link: link, ids: map[string]bool{}}
	if err := ast.Walk(root, w.visit); err != nil {
		return Document{}, err
	}
	w.nameRows()
	var b bytes.Buffer
	if err := r.md.Renderer().Render(&b, content, root); err != nil {
		return Document{}, err
	}
	return Document{
		HTML:     template.HTML(b.String()), //nolint:gosec // the source is ours, and raw HTML is refused
		Headings: w.headings, Sections: w.finish(),
	}, nil
}

// Inline converts a text of one paragraph to HTML, without the element of the paragraph.
func (r *Renderer) Inline(source string, link func(string) string) (template.HTML, error) {
	document, err := r.Render(source, link)
	if err != nil {
		return "", err
	}
	inner, found := strings.CutPrefix(strings.TrimSpace(string(document.HTML)), "<p>")
	inner, closed := strings.CutSuffix(inner, "</p>")
	if !found || !closed || strings.Contains(inner, "<p>") {
		return "", fmt.Errorf("not one paragraph: %q", source)
	}
	return template.HTML(inner), nil //nolint:gosec // a part of the HTML that Render wrote
}
