package templates

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// The form field that says which button was pressed, and its values: fieldDo is absent if
// the draft is to be saved, doCheck checks it, and doRender answers with the rendered HTML
// for the frame.
const (
	fieldDo  = "do"
	doCheck  = "check"
	doRender = "render"
)

// draft has the fields of the editor.
type draft struct {
	Slug, Subject, HTML, Text string
	// TestData is a JSON object of sets, or "".
	TestData string
	Message  string // why the content changes
	// Base is the hash of the content that the visitor changes, and BaseVersion its number.
	// They are "" and 0 for a new template.
	Base        string
	BaseVersion int
	// Set and Email choose the data of the preview.
	Set, Email string
}

// draftOf returns the content of a template as a draft.
func draftOf(t template) draft {
	d := draft{Slug: t.Slug, Subject: t.Subject, HTML: t.HTML, Text: t.Text, Base: t.ContentHash, BaseVersion: t.VersionNumber}
	var indented bytes.Buffer
	if !isEmptyObject(t.TestData) && json.Indent(&indented, t.TestData, "", "  ") == nil {
		d.TestData = indented.String()
	}
	if content, err := t.draft(); err == nil {
		d.Set = firstSet(content.TestData)
	}
	return d
}

// isEmptyObject reports whether JSON has no members.
func isEmptyObject(text json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(text, &members) == nil && len(members) == 0
}

// submittedDraft returns the draft in a submitted form. A browser sends line ends as CRLF; a
// template has LF.
func submittedDraft(r *http.Request) draft {
	field := func(name string) string { return strings.ReplaceAll(r.PostForm.Get(name), "\r\n", "\n") }
	d := draft{
		Slug: strings.TrimSpace(field("slug")), Subject: field("subject"), HTML: field("html"), Text: field("text"), TestData: strings.TrimSpace(field("testdata")),
		Message: field("message"), Base: field("base"), BaseVersion: numberIn(field("base_version")), Set: field(paramSet), Email: field(paramEmail),
	}
	if strings.TrimSpace(d.Text) == "" { // derived from the HTML
		d.Text = ""
	}
	return d
}

// content returns the draft for core/templates, without test data if those are not valid
// JSON. In this case it also returns the fault.
func (d draft) content() (stored.Draft, *stored.Fault) {
	content := stored.Draft{Subject: d.Subject, HTML: d.HTML, Text: d.Text}
	if d.TestData == "" {
		return content, nil
	}
	fault := decodeObject(d.TestData, &content.TestData)
	if fault != nil {
		content.TestData = nil
	}
	return content, fault
}

// sources returns the parts of the draft by their names in faults.
func (d draft) sources() map[string]string {
	return map[string]string{"subject": d.Subject, "html": d.HTML, "text": d.Text, "testdata": d.TestData}
}

// parameters returns the choice of the data for a preview.
func (d draft) parameters() frame.Parameters {
	return frame.Parameters{paramSet: d.Set, paramEmail: d.Email}
}

// arguments returns the arguments of templates_author that save the draft. hasTestData is
// true if the stored template has test data, which an empty field deletes.
func (d draft) arguments(hasTestData bool) map[string]any {
	arguments := frame.SetArguments(map[string]any{
		"slug": d.Slug, "subject": d.Subject, "message": d.Message, "base_content_hash": d.Base,
	})
	arguments["html"], arguments["text"] = d.HTML, d.Text
	switch {
	case d.TestData != "":
		arguments["testdata"] = json.RawMessage(d.TestData)
	case hasTestData:
		arguments["testdata"] = json.RawMessage("{}")
	}
	return arguments
}

// VersionText returns the number of the version that the draft changes for a form.
func (d draft) VersionText() string { return strconv.Itoa(d.BaseVersion) }
