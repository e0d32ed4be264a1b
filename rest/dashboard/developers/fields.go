package developers

import "github.com/mailhelm/mailhelm/rest/dashboard/frame"

// The fields of the forms, by the names that tasks use in refusals.
const (
	fieldName        = "name"
	fieldEnvironment = "environment"
	fieldScopes      = "scopes"
	fieldRedirects   = "redirect_uris"
	fieldRefresh     = "refresh_days"
)

// labels are the names that the forms show for their fields.
var labels = frame.Labels{
	fieldName: "The name", fieldEnvironment: "The environment", fieldScopes: "The scopes",
	fieldRedirects: "The redirect addresses", fieldRefresh: "The lifetime",
}
