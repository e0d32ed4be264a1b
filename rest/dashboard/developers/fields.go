package developers

import "github.com/mailhelm/mailhelm/rest/dashboard/frame"

// The names of the form fields. The errors of core/access name the same fields.
const (
	fieldName        = "name"
	fieldEnvironment = "environment"
	fieldScopes      = "scopes"
	fieldRedirects   = "redirect_uris"
	fieldRefresh     = "refresh_days"
)

// labels has, for each form field, the words that name the field in the error text of a
// refused form.
var labels = frame.Labels{
	fieldName: "The name", fieldEnvironment: "The environment", fieldScopes: "The scopes",
	fieldRedirects: "The redirect addresses", fieldRefresh: "The lifetime",
}
