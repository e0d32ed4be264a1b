package core

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Problem is an error in the form that callers receive: a problem document (RFC 7807) over
// REST, the structured content of a failed tool call over MCP.
type Problem struct {
	Type      string       `json:"type"`
	Title     string       `json:"title"`
	Status    int          `json:"status"`
	Code      Code         `json:"code"`
	Detail    string       `json:"detail,omitempty"`
	NextStep  string       `json:"next_step,omitempty"`
	RequestID string       `json:"request_id,omitempty"`
	Errors    []FieldError `json:"errors,omitempty"`
	Resource  string       `json:"resource,omitempty"`
	// RetryAfter is the time to wait before a retry, in whole seconds, rounded up.
	RetryAfter int   `json:"retry_after,omitempty"`
	Scope      Scope `json:"scope,omitempty"`
	// Extra has further members of the problem document, by name.
	Extra map[string]any `json:"-"`
}

// maxFieldErrors is the greatest number of faults that a problem lists.
const maxFieldErrors = 20

// ProblemOf returns err in the form that callers receive. Every error that callers see is
// converted here. The cause of an internal error is not included; the caller of ProblemOf
// logs it.
func ProblemOf(err error, docsURL, requestID string) Problem {
	e := AsError(err)
	info := e.Code.Info()
	return Problem{
		Type:       info.Code.TypeURI(docsURL),
		Title:      info.Title,
		Status:     e.HTTPStatus(),
		Code:       info.Code,
		Detail:     e.Message,
		NextStep:   e.NextStep(),
		RequestID:  requestID,
		Errors:     e.Fields[:min(len(e.Fields), maxFieldErrors)],
		Resource:   e.Resource,
		RetryAfter: ceilSeconds(e.RetryAfter),
		Scope:      e.Scope,
		Extra:      e.Extra,
	}
}

// ceilSeconds returns d in whole seconds, rounded up, so that a client never waits less
// than d.
func ceilSeconds(d time.Duration) int {
	return int(math.Ceil(d.Seconds()))
}

// MarshalJSON encodes the problem with the members of Extra at the end of the object.
func (p Problem) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil) }

// AppendJSON appends the JSON of the problem to b, as MarshalJSON encodes it. A server refuses
// many calls of a caller above its rate limit, so this takes a small part of json.Marshal's time.
// It fails only if a value in Extra cannot be encoded.
func (p Problem) AppendJSON(b []byte) ([]byte, error) {
	b = appendJSONText(append(b, `{"type":`...), p.Type)
	b = appendJSONText(append(b, `,"title":`...), p.Title)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(p.Status), 10)
	b = appendJSONText(append(b, `,"code":`...), string(p.Code))
	b = appendMember(b, `,"detail":`, p.Detail)
	b = appendMember(b, `,"next_step":`, p.NextStep)
	b = appendMember(b, `,"request_id":`, p.RequestID)
	if len(p.Errors) > 0 {
		errs, err := json.Marshal(p.Errors)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"errors":`...), errs...)
	}
	b = appendMember(b, `,"resource":`, p.Resource)
	if p.RetryAfter != 0 {
		b = strconv.AppendInt(append(b, `,"retry_after":`...), int64(p.RetryAfter), 10)
	}
	b = appendMember(b, `,"scope":`, string(p.Scope))
	if len(p.Extra) == 0 {
		return append(b, '}'), nil
	}
	extra, err := json.Marshal(p.Extra)
	if err != nil {
		return nil, err
	}
	return append(append(b, ','), extra[1:]...), nil
}

// appendMember appends the name and the value of a member of an object, unless the value is "".
func appendMember(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendJSONText(append(b, name...), value)
}

// appendJSONText appends a string as json.Marshal encodes it.
func appendJSONText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			encoded, _ := json.Marshal(text) // a string can be encoded
			return append(b, encoded...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}
