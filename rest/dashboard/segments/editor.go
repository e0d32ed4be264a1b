package segments

import (
	"context"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// The form field that says which button was pressed, and its value for the preview.
const (
	fieldDo   = "do"
	doPreview = "preview"
)

// labels are the names of the editor's fields.
var labels = frame.Labels{"name": "The name", "key": "The key", "description": "The description", "source": "The predicate"}

// editorPage is the data of the editor.
type editorPage struct {
	Form frame.Form
	// New is true for the page that creates a segment; only then the key can be written.
	New                            bool
	Key, Name, Description, Source string
	Preview                        preview
	Help                           help
	Back                           string
	Guide                          *frame.Link
}

// fieldsOf returns the definition in a submitted form. A browser sends line ends as CRLF;
// the definition has LF.
func fieldsOf(r *http.Request) segments.Definition {
	return segments.Definition{
		Key: r.PostForm.Get("key"), Name: r.PostForm.Get("name"), Description: r.PostForm.Get("description"),
		Source: unixLines(r.PostForm.Get("source")), Origin: segments.Managed,
	}
}

// showNew shows the editor for a new segment. The query parameter example chooses a
// predicate to start from.
func (h *Segments) showNew(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	var d segments.Definition
	if n, err := strconv.Atoi(r.URL.Query().Get("example")); err == nil && n >= 0 && n < len(examples) {
		d.Source = examples[n].Source
	}
	h.editor(w, r, v, d, nil, "")
}

// showEdit shows the editor for a segment.
func (h *Segments) showEdit(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	s, ok := h.editable(w, r, v)
	if ok {
		h.editor(w, r, v, segments.Definition{Key: s.Key, Name: s.Name, Description: s.Description, Source: s.Source}, &s, "")
	}
}

// editable returns the segment that the request names. If it returns false, it has written
// an answer: the segment is unknown, or a repository defines it.
func (h *Segments) editable(w http.ResponseWriter, r *http.Request, v people.Visitor) (segments.Segment, bool) {
	s, err := h.Author.Segment(r.Context(), v.Org.ID, r.PathValue("id"))
	if err != nil {
		h.Fail(w, r, v, err)
		return s, false
	}
	if e := refuseReadOnly(v, s); e != nil {
		h.Refuse(w, r, v, e.HTTPStatus(), e.Message, e.NextStep())
		return s, false
	}
	return s, true
}

// editor writes the editor with a definition and its preview. before is the segment to
// change, nil for a new one. problem says why the form was refused, or is "".
func (h *Segments) editor(w http.ResponseWriter, r *http.Request, v people.Visitor, d segments.Definition, before *segments.Segment, problem string) {
	if before == nil && v.Org.GitConnected {
		e := core.RefuseGitOwned("segment")
		h.Refuse(w, r, v, e.HTTPStatus(), "Segments are defined by the connected repository.", e.NextStep())
		return
	}
	p, names, err := h.previewOf(r, v, d.Key, d.Source)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := editorPage{
		Form: frame.FormTo(v, r.URL.Path), New: before == nil, Key: frame.PlainName(d.Key), Name: frame.PlainName(d.Name), Description: frame.PlainName(d.Description),
		Source: d.Source, Preview: p, Help: helpOf(names), Back: Path,
		Guide: h.Guide("/guides/predicates", "The language of predicates"),
	}
	head, status := frame.Head{Title: "Create segment"}, http.StatusOK
	if before != nil {
		data.Back = pathOf(*before)
		name := frame.PlainName(before.Name)
		head = frame.Head{Title: "Edit " + name, Parents: []frame.Link{{Path: data.Back, Name: name}}}
	}
	if problem != "" {
		status = http.StatusUnprocessableEntity
	}
	h.Show(w, r, v, status, frame.Screen{Page: "editor", Title: head.Title, Head: head, Problem: problem, Data: data})
}

// createSegment stores a new segment and redirects to its page, or shows the preview.
func (h *Segments) createSegment(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	d := fieldsOf(r)
	if r.PostForm.Get(fieldDo) == doPreview || v.Org.GitConnected {
		h.editor(w, r, v, d, nil, "")
		return
	}
	h.save(w, r, v, d, nil)
}

// editSegment replaces the definition of a segment and redirects to its page, or shows the
// preview.
func (h *Segments) editSegment(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	s, ok := h.editable(w, r, v)
	if !ok {
		return
	}
	d := fieldsOf(r)
	d.Key = s.Key
	if r.PostForm.Get(fieldDo) == doPreview {
		h.editor(w, r, v, d, &s, "")
		return
	}
	h.save(w, r, v, d, &s)
}

// save stores the definition. before is the segment to change, nil for a new one. A refused
// definition is shown again in the editor.
func (h *Segments) save(w http.ResponseWriter, r *http.Request, v people.Visitor, d segments.Definition, before *segments.Segment) {
	action, id := "segment.created", ""
	if before != nil {
		action = "segment.updated"
	}
	err := h.TransactorWith(v, members.MayManageSegments).InTx(r.Context(), func(ctx context.Context) error {
		store := h.Definitions.Save
		if before == nil {
			store = h.Definitions.Create
		}
		saved, err := store(ctx, v.Org.ID, d)
		if err != nil {
			return err
		}
		id = saved.ID
		return h.Record(ctx, v, action, id, nil)
	})
	switch e := core.AsError(err); {
	case err == nil:
		frame.RedirectWithNotice(w, Path+"/"+id, "saved")
	case e.Code == core.CodeValidationFailed:
		h.editor(w, r, v, d, before, labels.Problem(e))
	default:
		h.Fail(w, r, v, err)
	}
}
