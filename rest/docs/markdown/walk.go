package markdown

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// walk changes the nodes of one document and collects its headings and texts.
type walk struct {
	source   []byte
	link     func(string) string
	headings []Heading
	sections []Section
	body     strings.Builder
	ids      map[string]bool
	rows     []pendingRow
	labels   []string // the headings of the columns of the current table
}

// pendingRow is a row that gets an id when all ids of headings are known.
type pendingRow struct {
	node         *extension.TableRow
	section, row int
	heading      string
}

// visit handles a node when it is entered. It is a function for ast.Walk.
func (w *walk) visit(node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := node.(type) {
	case *ast.HTMLBlock, *ast.RawHTML:
		return ast.WalkStop, fmt.Errorf("raw HTML is not supported: %q", w.text(node))
	case *ast.Link:
		n.Destination = []byte(w.link(string(n.Destination)))
	case *ast.Heading:
		w.addHeading(n)
	case *ast.Paragraph, *ast.TextBlock:
		w.addText(w.text(n))
	case *ast.FencedCodeBlock:
		w.addText(string(n.Lines().Value(w.source)))
	case *extension.TableHeader:
		w.readLabels(n)
		return ast.WalkContinue, nil
	case *extension.TableRow:
		w.addRow(n)
	}
	return ast.WalkContinue, nil
}

// addHeading begins a section.
func (w *walk) addHeading(n *ast.Heading) {
	id, _ := n.AttributeString("id")
	value, _ := id.([]byte)
	h := Heading{ID: string(value), Text: w.text(n), Level: n.Level}
	w.ids[h.ID] = true
	if h.Level == 2 || h.Level == 3 {
		w.headings = append(w.headings, h)
	}
	w.closeSection()
	w.sections = append(w.sections, Section{Heading: h})
}

// section returns the current section. The text before the first heading is a section
// without one.
func (w *walk) section() *Section {
	if len(w.sections) == 0 {
		w.sections = append(w.sections, Section{})
	}
	return &w.sections[len(w.sections)-1]
}

// addText appends a text to the current section.
func (w *walk) addText(text string) {
	w.section()
	w.body.WriteString(text + "\n")
}

// closeSection stores the collected text in the current section.
func (w *walk) closeSection() {
	if len(w.sections) > 0 {
		w.section().Body = strings.TrimSpace(w.body.String())
	}
	w.body.Reset()
}

// finish returns all sections.
func (w *walk) finish() []Section {
	w.closeSection()
	return w.sections
}

// readLabels remembers the headings of the columns of a table.
func (w *walk) readLabels(header *extension.TableHeader) {
	w.labels = nil
	for cell := header.FirstChild(); cell != nil; cell = cell.NextSibling() {
		cell.SetAttributeString("scope", "col")
		w.labels = append(w.labels, w.text(cell))
	}
}

// addRow labels the cells of a row with the headings of their columns, for narrow screens.
// It adds the row to the current section.
func (w *walk) addRow(row *extension.TableRow) {
	var texts []string
	i := 0
	for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
		if i < len(w.labels) && w.labels[i] != "" {
			cell.SetAttributeString("data-label", []byte(w.labels[i]))
		}
		texts = append(texts, w.text(cell))
		i++
	}
	w.addText(strings.Join(texts, " "))
	key := keyOf(row.FirstChild(), w.source)
	if key == "" {
		return
	}
	s := w.section()
	s.Rows = append(s.Rows, Row{Key: key, Text: strings.Join(texts[1:], " ")})
	w.rows = append(w.rows, pendingRow{row, len(w.sections) - 1, len(s.Rows) - 1, s.ID})
}

// idForm is the form of the ids of rows.
var idForm = regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)

// nameRows gives each row an id: the code of its first cell, or, if that is taken, the id
// of the heading, a dot and the code.
func (w *walk) nameRows() {
	for _, row := range w.rows {
		key := w.sections[row.section].Rows[row.row].Key
		id := strings.ReplaceAll(key, "[]", "")
		if w.ids[id] {
			id = row.heading + "." + id
		}
		if w.ids[id] || !idForm.MatchString(id) {
			continue
		}
		w.ids[id] = true
		row.node.SetAttributeString("id", []byte(id))
		w.sections[row.section].Rows[row.row].ID = id
	}
}

// keyOf returns the code of a cell that begins with a code span, or with a link to one, or
// "".
func keyOf(cell ast.Node, source []byte) string {
	if cell == nil || cell.FirstChild() == nil {
		return ""
	}
	first := cell.FirstChild()
	if first.Kind() == ast.KindLink && first.FirstChild() != nil {
		first = first.FirstChild()
	}
	if first.Kind() != ast.KindCodeSpan {
		return ""
	}
	return plain(first, source)
}

func (w *walk) text(node ast.Node) string { return plain(node, w.source) }

// plain returns the text of a node without marks.
func plain(node ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch t := n.(type) {
		case *ast.Text:
			if n.Parent() != nil && n.Parent().Kind() == ast.KindCodeSpan {
				b.Write(t.Value(source))
			} else {
				b.Write(util.UnescapePunctuations(t.Value(source)))
			}
			if t.SoftLineBreak() || t.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(t.Value)
		case *ast.AutoLink:
			b.Write(t.Label(source))
		}
		return ast.WalkContinue, nil
	}) // the function returns no error
	return b.String()
}
