package templates

import (
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// testPage is the data of the page that sends a test and shows its outcomes.
type testPage struct {
	Back, Name string
	Form       frame.Form
	// Addresses and Values are the texts of the fields.
	Addresses, Values string
	Outcomes          frame.TestOutcomes
}

// testLabels are the names of the form's fields in refusals.
var testLabels = frame.Labels{"recipients": "The addresses", "data": "The text of the values"}

// showTest shows the form that sends a test of a template.
func (h *Templates) showTest(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if t, ok := h.read(w, r, v); ok {
		h.test(w, r, v, testPage{Back: pathOf(t.Slug), Name: frame.PlainName(t.Name), Addresses: v.User.Email}, nil)
	}
}

// sendTest sends the newest version of a template to the addresses in the form, and shows the
// outcome for each.
func (h *Templates) sendTest(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	t, ok := h.read(w, r, v)
	if !ok {
		return
	}
	text := func(name string) string {
		return strings.ReplaceAll(strings.ToValidUTF8(r.PostForm.Get(name), ""), "\r\n", "\n")
	}
	data := testPage{Back: pathOf(t.Slug), Name: frame.PlainName(t.Name), Addresses: text("recipients"), Values: text(paramData)}
	values, err := parseObject(data.Values)
	if err == nil {
		arguments := map[string]any{"slug": t.Slug}
		if values != nil {
			arguments["data"] = values
		}
		data.Outcomes, err = h.SendTest(r, v, "templates_test_send", data.Addresses, arguments)
	}
	h.test(w, r, v, data, err)
}

// test writes the page of tests. refused is the reason why no test was sent, nil for none.
func (h *Templates) test(w http.ResponseWriter, r *http.Request, v people.Visitor, data testPage, refused error) {
	problem, status := testLabels.TestProblem(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	data.Form = frame.FormTo(v, r.URL.Path)
	head := frame.Head{
		Title: "Send a test", Lead: "The newest version goes to named addresses, with [TEST] before the subject.", Parents: []frame.Link{{Path: data.Back, Name: data.Name}},
	}
	h.Show(w, r, v, status, frame.Screen{Page: "test", Title: head.Title, Head: head, Problem: problem, Data: data})
}
