package developers

import "github.com/mailhelm/mailhelm/rest/dashboard/frame"

// The names of the form fields. They equal the names in the refusals of core/access.
const (
	fieldName        = "name"
	fieldEnvironment = "environment"
	fieldScopes      = "scopes"
	fieldRedirects   = "redirect_uris"
	fieldRefresh     = "refresh_days"
)

// labels are the names that the forms show for their fields, by field.
var labels = frame.Labels{
	fieldName: "The name", fieldEnvironment: "The environment", fieldScopes: "The scopes",
	fieldRedirects: "The redirect addresses", fieldRefresh: "The lifetime",
}
