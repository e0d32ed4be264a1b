package broadcasts

import (
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// testPage is the data of the page that sends a test and shows its outcomes.
type testPage struct {
	Back, Name string
	Form       frame.Form
	// Addresses is the text of the field. Fault is the reason why it was refused, or "".
	Addresses, Fault string
	Results          []testResult
	Sent, Total      int
}

// testResult is the outcome for one address.
type testResult struct {
	Recipient, Message, Error string
	Sent                      bool
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
	addresses := strings.FieldsFunc(data.Addresses, func(c rune) bool { return strings.ContainsRune(" ,;\r\n\t", c) })
	if len(addresses) == 0 {
		h.test(w, r, v, data, core.Invalid("recipients", "must have at least one address"))
		return
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
	_, err := h.Do(r, v, frame.OperationCall{Operation: "broadcasts_test_send", Arguments: map[string]any{"id": b.ID, "recipients": addresses}}, &result)
	if err != nil {
		h.test(w, r, v, data, err)
		return
	}
	data.Sent, data.Total = result.Sent, result.Total
	for _, one := range result.Results {
		shown := testResult{Recipient: frame.PlainName(one.Recipient), Sent: one.Status == "sent", Error: frame.PlainName(one.Error)}
		if one.MessageID != "" {
			shown.Message = h.link(v, messagesPath, one.MessageID, "").Path
		}
		data.Results = append(data.Results, shown)
	}
	h.test(w, r, v, data, nil)
}

// test writes the page of tests. refused is the reason why no test was sent, nil for none.
func (h sendPages) test(w http.ResponseWriter, r *http.Request, v people.Visitor, data testPage, refused error) {
	problem, status := "", http.StatusOK
	if refused != nil {
		e := core.AsError(refused)
		if problem, status = labels.Correctable(refused); e.Code == core.CodeRateLimited {
			problem, status = frame.TextOf(refused), e.HTTPStatus()
		}
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
