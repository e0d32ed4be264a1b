package frame

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/guardrails"
)

// OperationCall is the call of an operation from a page.
type OperationCall struct {
	// Operation is the name of the operation, such as contacts_list.
	Operation string
	// Arguments marshals to the JSON object of the arguments, in the form of REST. nil means
	// no arguments.
	Arguments any
	// Once is the id of the form, from [Pages.ReadOnceID]. It is the idempotency key of a
	// write, so that a form that is sent twice writes once. "" means no key.
	Once string
	// Confirmation is the token that an earlier call returned and that the form repeats. ""
	// means none.
	Confirmation string
}

// Read calls an operation that reads, as the visitor, and decodes its result in the form of
// REST into the variable to which out points. It fails only with a *core.Error.
func (f *Frame) Read(r *http.Request, v people.Visitor, operation string, arguments, out any) error {
	_, err := f.Do(r, v, OperationCall{Operation: operation, Arguments: arguments}, out)
	return err
}

// ReadNamed reads the record whose id is in the request's path, with an operation that has
// the argument id, like Read. If it returns false, it has written the response.
func (p *Pages) ReadNamed(w http.ResponseWriter, r *http.Request, v people.Visitor, operation string, out any) bool {
	id := r.PathValue("id")
	if !core.IsID(id) {
		p.NoSuchPage(w, r, v)
		return false
	}
	if err := p.Read(r, v, operation, map[string]string{"id": id}, out); err != nil {
		p.Fail(w, r, v, err)
		return false
	}
	return true
}

// Do calls an operation as the visitor, through all guardrails: it needs the scopes that
// the visitor's permissions cover, and a write has the visitor as actor in the audit log.
// Do decodes the result, in the form of REST, into the variable to which out points; nil
// drops the result. If the operation must be confirmed first, Do changes nothing and
// returns what the call would do, with the token for the confirming call. It fails only
// with a *core.Error.
func (f *Frame) Do(r *http.Request, v people.Visitor, c OperationCall, out any) (*guardrails.ConfirmationRequired, error) {
	arguments, err := argumentsOf(c)
	if err != nil {
		return nil, err
	}
	result, err := f.Operations.Call(r.Context(), c.Operation, guardrails.Request{
		Principal: principalOf(v), Surface: core.Dashboard, RequestID: core.RequestID(r.Header["X-Request-Id"]),
		Arguments: arguments, IdempotencyKey: c.Once, Confirmation: c.Confirmation, ConfirmationForm: "page",
	})
	if err != nil || result.Confirm != nil || out == nil {
		return result.Confirm, err
	}
	return nil, decodeResult(c.Operation, result.Value, out)
}

// argumentsOf returns the arguments of a call as JSON.
func argumentsOf(c OperationCall) (json.RawMessage, error) {
	if c.Arguments == nil {
		return nil, nil
	}
	arguments, err := json.Marshal(c.Arguments)
	if err != nil {
		return nil, core.Internal(fmt.Errorf("arguments of %s: %w", c.Operation, err))
	}
	return arguments, nil
}

// decodeResult decodes the result of an operation into out. A page declares only the
// members that it shows, so it does not depend on the types of the domains.
func decodeResult(operation string, value, out any) error {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		return core.Internal(fmt.Errorf("result of %s: %w", operation, err))
	}
	return nil
}

// principalOf returns the visitor as the caller of an operation.
func principalOf(v people.Visitor) core.Principal {
	return core.Principal{
		Org: v.Org, UserID: v.User.ID, Scopes: v.Member.Scopes(),
		Credential: core.Credential{Kind: core.Person, ID: v.User.ID, Name: "dashboard", Environment: core.Live},
	}
}
