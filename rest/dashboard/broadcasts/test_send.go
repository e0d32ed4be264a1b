package broadcasts

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// testPage is the data of the page that sends a test and shows its outcomes.
type testPage struct {
	Back, Name string
	Form       frame.Form
	// Addresses is the text of the field. Fault is the reason why it was refused, or "".
	Addresses, Fault string
	Outcomes         frame.TestOutcomes
}

// showTest shows the form that sends a test.
func (h sendPages) showTest(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if b, ok := h.read(w, r, v); ok {
		h.test(w, r, v, testPage{Back: path(b, ""), Name: frame.PlainName(b.Name), Addresses: v.User.Email}, nil)
	}
}

// sendTest sends the message to the addresses in the form, and shows the outcome for each.
func (h sendPages) sendTest(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	b, ok := h.read(w, r, v)
	if !ok {
		return
	}
	data := testPage{Back: path(b, ""), Name: frame.PlainName(b.Name), Addresses: textOf(r, "recipients")}
	var err error
	data.Outcomes, err = h.SendTest(r, v, "broadcasts_test_send", data.Addresses, map[string]any{"id": b.ID})
	h.test(w, r, v, data, err)
}

// test writes the page of tests. refused is the reason why no test was sent, nil for none.
func (h sendPages) test(w http.ResponseWriter, r *http.Request, v people.Visitor, data testPage, refused error) {
	problem, status := labels.TestProblem(refused)
	if refused != nil {
		if problem == "" {
			h.Fail(w, r, v, refused)
			return
		}
		data.Fault = faultsOf(refused).sentences()["recipients"]
	}
	data.Form = frame.FormTo(v, r.URL.Path)
	head := frame.Head{
		Title: "Send a test", Lead: "The message goes to named addresses, with [TEST] before the subject. Consent and suppression are not checked.",
		Parents: []frame.Link{{Path: data.Back, Name: data.Name}},
	}
	h.Show(w, r, v, status, frame.Screen{Page: "test", Title: head.Title, Head: head, Problem: problem, Data: data})
}
