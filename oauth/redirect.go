package oauth

import (
	"net/url"
	"strings"
)

// withParameters adds to the query of a redirect URI, which keeps what it has.
func withParameters(uri string, parameters url.Values) string {
	switch {
	case !strings.Contains(uri, "?"):
		uri += "?"
	case !strings.HasSuffix(uri, "?") && !strings.HasSuffix(uri, "&"):
		uri += "&"
	}
	return uri + parameters.Encode()
}
