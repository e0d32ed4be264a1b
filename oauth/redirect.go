package oauth

import (
	"net/url"
	"strings"
)

// withParameters returns a redirect URI with parameters added to its query.
func withParameters(uri string, parameters url.Values) string {
	switch {
	case !strings.Contains(uri, "?"):
		uri += "?"
	case !strings.HasSuffix(uri, "?") && !strings.HasSuffix(uri, "&"):
		uri += "&"
	}
	return uri + parameters.Encode()
}
