package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The codes of the bridge's own JSON-RPC errors. JSON-RPC reserves the codes from -32768 to
// -32000, so those of the bridge are outside this range.
const (
	codeParseError     = -32700
	codeInvalidRequest = -32600
	codeSignIn         = 1 // the person must sign in
	codeUnreachable    = 2 // the endpoint could not be reached
	codeRefused        = 3 // the endpoint refused the HTTP request; data has its problem document
)

// signInError means that the bridge has no access token.
type signInError struct{ err error }

func (e *signInError) Error() string { return e.err.Error() }
func (e *signInError) Unwrap() error { return e.err }

// httpRefusal is an answer of the endpoint that is no JSON-RPC message.
type httpRefusal struct {
	status  string
	problem problem
	raw     jsontext.Value // the problem document, or nil
}

// problem has the members of a problem document (RFC 9457) that the client is shown.
type problem struct {
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Next   string `json:"next_step"`
}

func (e *httpRefusal) Error() string {
	text := e.problem.Title
	for _, more := range []string{e.problem.Detail, e.problem.Next} {
		if more != "" && more != text {
			text += " " + more
		}
	}
	if text == "" {
		return "the endpoint answered with status " + e.status
	}
	return text
}

// answerError is the JSON-RPC error message to the client.
type answerError struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Error   errorObject    `json:"error"`
}

type errorObject struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"`
}

// explain answers a request that failed. It answers nothing if the client cancelled it.
func (b *Bridge) explain(ctx context.Context, m message, err error) {
	if ctx.Err() != nil {
		return
	}
	var signIn *signInError
	var refused *httpRefusal
	switch {
	case errors.As(err, &signIn):
		b.refuseWith(m.ID, errorObject{Code: codeSignIn, Message: fmt.Sprintf("No access to %s: %v. %s", b.Address, err, b.Help)})
	case errors.As(err, &refused):
		b.refuseWith(m.ID, errorObject{Code: codeRefused, Message: refused.Error(), Data: refused.raw})
	default:
		b.refuseWith(m.ID, errorObject{Code: codeUnreachable, Message: fmt.Sprintf("No complete answer from %s: %v. Check that the server runs and can be reached, then try again.", b.Address, err)})
	}
}

// refuse answers with an error that has no data. id is nil if it could not be read.
func (b *Bridge) refuse(id jsontext.Value, code int, text string) {
	b.refuseWith(id, errorObject{Code: code, Message: text})
}

func (b *Bridge) refuseWith(id jsontext.Value, e errorObject) {
	if id == nil {
		id = jsontext.Value("null")
	}
	line, err := json.Marshal(answerError{"2.0", id, e})
	if err != nil {
		return // cannot happen: id and data were parsed before
	}
	b.write(line)
}

// maxProblem is the largest problem document that is read, in bytes.
const maxProblem = 64 << 10

// errNoAnswer means that the endpoint ended a successful answer without the message.
var errNoAnswer = errors.New("the connection ended before the answer")

// refusalOf returns the error for an answer without a JSON-RPC message. It reads the body if
// that is a problem document.
func refusalOf(answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return errNoAnswer
	}
	refused := &httpRefusal{status: answer.Status}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxProblem))
	if err == nil && answer.Header.Get("Content-Type") == "application/problem+json" && json.Unmarshal(raw, &refused.problem) == nil {
		refused.raw = bytes.TrimSpace(raw)
	}
	return refused
}
