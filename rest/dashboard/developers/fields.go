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

// labels are the names of the fields in the refusals that the forms show.
var labels = frame.Labels{
	fieldName: "The name", fieldEnvironment: "The environment", fieldScopes: "The scopes",
	fieldRedirects: "The redirect addresses", fieldRefresh: "The lifetime",
}
