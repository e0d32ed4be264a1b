package dashboard

import (
	"errors"

	"github.com/mailhelm/mailhelm/core"
)

// The names of the members that the tasks refuse by.
const (
	fieldName        = "name"
	fieldEnvironment = "environment"
	fieldScopes      = "scopes"
	fieldRedirects   = "redirect_uris"
	fieldRefresh     = "refresh_days"
)

// labels are what the forms call them.
var labels = map[string]string{
	fieldName: "The name", fieldEnvironment: "The environment", fieldScopes: "The scopes",
	fieldRedirects: "The redirect addresses", fieldRefresh: "The lifetime",
}

// problemOf is what to say above a form whose content was refused, or "" for an
// error that is about something else.
func problemOf(err error) string {
	e, ok := errors.AsType[*core.Error](err)
	if !ok || e.Code != core.CodeValidationFailed {
		return ""
	}
	if len(e.Fields) == 1 && labels[e.Fields[0].Field] != "" {
		return labels[e.Fields[0].Field] + " " + e.Fields[0].Reason + "."
	}
	return e.Message
}
