package core

import (
	"encoding/json"
	"math"
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
func (p Problem) MarshalJSON() ([]byte, error) {
	type plain Problem
	b, err := json.Marshal(plain(p))
	if err != nil || len(p.Extra) == 0 {
		return b, err
	}
	extra, err := json.Marshal(p.Extra)
	if err != nil {
		return nil, err
	}
	b[len(b)-1] = ','
	return append(b, extra[1:]...), nil
}
