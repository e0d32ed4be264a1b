package frame

import (
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
