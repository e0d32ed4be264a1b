package templates

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// testPage is the data of the page that sends a test and shows its outcomes.
type testPage struct {
	Back, Name string
	Form       frame.Form
	// Addresses and Values are the texts of the fields.
	Addresses, Values string
	Results           []testResult
	Sent, Total       int
}

// testResult is the outcome for one address. Message is the path of the page of the message,
// "" for none.
type testResult struct {
	Recipient, Message, Error string
	Sent                      bool
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
	addresses := strings.FieldsFunc(data.Addresses, func(c rune) bool { return strings.ContainsRune(" ,;\n\t", c) })
	values, err := parseObject(data.Values)
	if err == nil && len(addresses) == 0 {
		err = core.Invalid("recipients", "must have at least one address")
	}
	if err != nil {
		h.test(w, r, v, data, err)
		return
	}
	arguments := map[string]any{"slug": t.Slug, "recipients": addresses}
	if values != nil {
		arguments["data"] = values
	}
	var result struct {
		Results []struct {
			Recipient string `json:"recipient"`
			Status    string `json:"status"`
			MessageID string `json:"message_id"`
			Error     string `json:"error"`
		} `json:"results"`
		Sent  int `json:"sent"`
		Total int `json:"total"`
	}
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "templates_test_send", Arguments: arguments}, &result); err != nil {
		h.test(w, r, v, data, err)
		return
	}
	data.Sent, data.Total = result.Sent, result.Total
	for _, one := range result.Results {
		shown := testResult{Recipient: frame.PlainName(one.Recipient), Sent: one.Status == "sent", Error: frame.PlainName(one.Error)}
		if messages := frame.Path + "/messages"; one.MessageID != "" && h.MayOpen(v, messages) {
			shown.Message = messages + "/" + url.PathEscape(one.MessageID)
		}
		data.Results = append(data.Results, shown)
	}
	h.test(w, r, v, data, nil)
}

// test writes the page of tests. refused is the reason why no test was sent, nil for none.
func (h *Templates) test(w http.ResponseWriter, r *http.Request, v people.Visitor, data testPage, refused error) {
	problem, status := testLabels.Correctable(refused)
	if refused != nil && core.AsError(refused).Code == core.CodeRateLimited {
		problem, status = frame.TextOf(refused), core.AsError(refused).HTTPStatus()
	}
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
