package frame

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// TestOutcomes has the outcomes of a test send, for the template "test-outcomes".
type TestOutcomes struct {
	Results     []TestOutcome
	Sent, Total int
}

// TestOutcome is the outcome for one address. Message is the path of the page of the
// message, "" for none.
type TestOutcome struct {
	Recipient, Message, Error string
	Sent                      bool
}

// SendTest calls an operation that sends tests to the addresses in the text of a field, with
// arguments and the addresses as the argument recipients. It fails with
// core.CodeValidationFailed on the field recipients if the text has no address.
func (f *Frame) SendTest(r *http.Request, v people.Visitor, operation, addresses string, arguments map[string]any) (TestOutcomes, error) {
	recipients := strings.FieldsFunc(addresses, func(c rune) bool { return strings.ContainsRune(" ,;\r\n\t", c) })
	if len(recipients) == 0 {
		return TestOutcomes{}, core.Invalid("recipients", "must have at least one address")
	}
	arguments["recipients"] = recipients
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
	if _, err := f.Do(r, v, OperationCall{Operation: operation, Arguments: arguments}, &result); err != nil {
		return TestOutcomes{}, err
	}
	outcomes := TestOutcomes{Sent: result.Sent, Total: result.Total}
	for _, one := range result.Results {
		shown := TestOutcome{Recipient: PlainName(one.Recipient), Sent: one.Status == "sent", Error: PlainName(one.Error)}
		if messages := Path + "/messages"; one.MessageID != "" && f.MayOpen(v, messages) {
			shown.Message = messages + "/" + url.PathEscape(one.MessageID)
		}
		outcomes.Results = append(outcomes.Results, shown)
	}
	return outcomes, nil
}

// TestProblem returns the text and the HTTP status with which a form that sends tests is
// shown again after err, as [Labels.Correctable] does. It also does so when the organization
// has made its tests of the hour.
func (l Labels) TestProblem(err error) (problem string, status int) {
	if err != nil && core.AsError(err).Code == core.CodeRateLimited {
		return TextOf(err), core.AsError(err).HTTPStatus()
	}
	return l.Correctable(err)
}
