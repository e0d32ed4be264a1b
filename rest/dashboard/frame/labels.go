package frame

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// Labels has the names that a form shows for its fields, by the field names in errors of
// package core. A name begins a sentence: "The name".
type Labels map[string]string

// Problem returns the text to show above a form whose content was refused with
// validation_failed. It returns "" for nil and for other errors.
func (l Labels) Problem(err error) string {
	if err == nil {
		return ""
	}
	e := core.AsError(err)
	if e.Code != core.CodeValidationFailed {
		return ""
	}
	var sentences []string
	for _, f := range e.Fields {
		if label := l[f.Field]; label != "" {
			sentences = append(sentences, label+" "+f.Reason+".")
		}
	}
	if len(sentences) == 0 {
		return e.Message
	}
	return strings.Join(sentences, " ")
}

// Correctable returns the text and the HTTP status with which a form is shown again after
// err: the content was refused, it contradicts what is stored, or the sending account did
// not answer. It returns "" for nil and for other errors, which are shown by [Pages.Fail].
func (l Labels) Correctable(err error) (problem string, status int) {
	if err == nil {
		return "", http.StatusOK
	}
	e := core.AsError(err)
	switch e.Code {
	case core.CodeValidationFailed:
		return l.Problem(err), e.HTTPStatus()
	case core.CodeConflict, core.CodeUpstreamUnavailable:
		return TextOf(err), e.HTTPStatus()
	}
	return "", http.StatusOK
}

// FilterProblem returns the text to show above a list whose filters were refused, and the
// HTTP status of the page. The text includes the next step if the refusal names one. A
// refusal has the code validation_failed or plan_retention_exceeded. For nil and for other
// errors, which [Pages.Fail] shows, FilterProblem returns "".
func (l Labels) FilterProblem(err error) (problem string, status int) {
	if err == nil {
		return "", http.StatusOK
	}
	e := core.AsError(err)
	switch e.Code {
	case core.CodeValidationFailed, core.CodePlanRetentionExceeded:
		if len(e.Fields) == 1 && e.Fields[0].Field == ParamCursor {
			return "The address of this part of the list is damaged, or belongs to another filter. Open the list again.", e.HTTPStatus()
		}
		problem := cmp.Or(l.Problem(err), e.Message)
		if e.Next != "" { // the catalogue's remedy is for programs
			problem += " " + e.Next
		}
		return problem, e.HTTPStatus()
	}
	return "", http.StatusOK
}

// TextOf returns what a page says about an error: what was wrong, and what to do next.
func TextOf(err error) string {
	e := core.AsError(err)
	switch e.Code {
	case core.CodeUpstreamUnavailable, core.CodeOverloaded: // the catalogue's remedy names headers of the API
		return e.Message + " " + cmp.Or(e.Next, "Try again in a minute.")
	}
	return e.Message + " " + e.NextStep()
}
