package templates

import (
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// maxLines is the maximum number of lines that a page shows of one source. A source of 500 KB
// may have that many lines, and each takes more on a page than its text.
const maxLines = 5_000

// numbered is a line of a source with its findings.
type numbered struct {
	Number   int
	Text     string
	Findings []finding
}

// source is a source with line numbers. More is the number of lines that are not shown.
type source struct {
	Lines []numbered
	More  int
}

// sourceView is the data of the template "numbered". Part begins the ids of the lines.
type sourceView struct {
	Source      source
	Part, Label string
}

// View returns the source for the template "numbered".
func (s source) View(part, label string) sourceView { return sourceView{s, part, label} }

// numberedSource returns the first lines of a source, each with the findings about it and
// without invisible characters, which could make a line appear as another one.
func numberedSource(text string, found []finding) source {
	if text == "" {
		return source{}
	}
	at := map[int][]finding{}
	for _, f := range found {
		at[f.Line] = append(at[f.Line], f)
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var s source
	for i, line := range lines[:min(len(lines), maxLines)] {
		s.Lines = append(s.Lines, numbered{i + 1, frame.PlainName(line), at[i+1]})
	}
	s.More = len(lines) - len(s.Lines)
	return s
}

// sourcePage is the data of the page with the source of a template.
type sourcePage struct {
	Subject string
	HTML    source
	Text    source
	// General are the findings about the whole mail.
	General []finding
}

// showSource shows the source of a template with line numbers and the findings at their
// lines.
func (h *Templates) showSource(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	t, ok := h.read(w, r, v)
	if !ok {
		return
	}
	found, err := h.findingsOf(r, v, t)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := sourcePage{Subject: t.Subject, HTML: numberedSource(t.HTML, found), Text: numberedSource(t.Text, nil)}
	for _, f := range found {
		if f.Line == 0 {
			data.General = append(data.General, f)
		}
	}
	name := frame.PlainName(t.Name)
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "source", Title: "Source of " + name, Head: frame.Head{
		Title: "Source", Lead: "It is shown as text and is not rendered.", Parents: []frame.Link{{Path: pathOf(t.Slug), Name: name}},
	}, Data: data})
}
