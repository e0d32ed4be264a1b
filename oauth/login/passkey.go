package login

import (
	_ "embed" // the script
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

//go:embed pages/passkey.js
var passkeyScript []byte

// answerQuestion writes the JSON response to the passkey script: {"ceremony", "options"}
// for the browser's WebAuthn API, or {"problem"} with a text for the person.
func (f *Frame) answerQuestion(w http.ResponseWriter, r *http.Request, q people.PasskeyQuestion, err error) {
	status := http.StatusOK
	content := map[string]any{"ceremony": q.Ceremony, "options": json.RawMessage(q.Options)}
	if err != nil {
		e := core.AsError(err)
		if e.IsFault() {
			f.logFailure(r, err)
			e = &core.Error{Code: e.Code, Message: "Something failed on our side.", Next: "Try again in a moment.", RetryAfter: e.RetryAfter}
		}
		retryLater(w, e)
		status, content = e.HTTPStatus(), map[string]any{"problem": e.Message + " " + e.NextStep()}
	}
	body, err := json.Marshal(content)
	if err != nil {
		f.Fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client has disconnected
}

func passkeyAnswer(r *http.Request) people.PasskeyAnswer {
	return people.PasskeyAnswer{Ceremony: r.PostForm.Get(fieldCeremony), Answer: r.PostForm.Get(fieldAnswer)}
}
