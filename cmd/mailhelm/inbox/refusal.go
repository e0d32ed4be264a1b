package inbox

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
)

// refusal is the error of a call that the server refused.
type refusal struct {
	text  string
	after time.Duration // the time until a retry, 0 if none helps
}

// Error returns what the server said.
func (r *refusal) Error() string { return r.text }

// refusalOf returns the error of a refused call. Its text has no control characters, because
// another program may have answered.
func refusalOf(p *cli.Program, response *http.Response, answer []byte) error {
	var document core.Problem
	if json.Unmarshal(answer, &document) != nil || document.Detail == "" {
		document = core.Problem{Detail: response.Status + ": this is not the API; check --base-url"}
	}
	text := textOf(p, document)
	refused := &refusal{}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		refused.after = time.Duration(seconds) * time.Second
		text += " Retry-After is " + refused.after.String() + "."
	}
	refused.text = strings.ReplaceAll(core.OnlyVisible(text), "`", "")
	return refused
}

// textOf returns the cause of a refusal and the next step, for a person at a shell.
func textOf(p *cli.Program, d core.Problem) string {
	switch {
	case d.Code == core.CodeValidationFailed && len(d.Errors) > 0:
		fields := make([]core.FieldError, len(d.Errors))
		for i, e := range d.Errors {
			name, _, _ := strings.Cut(e.Field, ".") // an item of a list has the list's flag
			fields[i] = core.FieldError{Field: name, Reason: e.Reason}
		}
		return p.Explain(core.InvalidFields(fields...)).Error()
	case d.Code == core.CodeNotFound && d.Resource == "inbox":
		return d.Detail + " Run 'mailhelm inbox list' for the ids of inboxes."
	case d.Code == core.CodeNotFound:
		return d.Detail + " Check --base-url."
	case d.Code == core.CodeInvalidKey:
		return "The server does not accept the API key. Check MAILHELM_API_KEY and --base-url."
	}
	return strings.TrimSpace(d.Detail + " " + d.NextStep)
}
