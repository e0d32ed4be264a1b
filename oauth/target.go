package oauth

import (
	"errors"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core/access"
)

// targets has the canonical URLs of the two resources that a token can be for, the API and
// the agent endpoint (RFC 8707). The claim `aud` contains one of them.
type targets struct {
	api   string
	agent string
}

// address returns the canonical URL of a resource.
func (t targets) address(r access.Resource) string {
	if r == access.Agent {
		return t.agent
	}
	return t.api
}

// findResource returns the resource that has this canonical URL, and false if there is
// none.
func (t targets) findResource(address string) (access.Resource, bool) {
	switch address {
	case t.api:
		return access.API, true
	case t.agent:
		return access.Agent, true
	}
	return access.API, false
}

// requestedResource returns the resource that the values of the parameter `resource` name.
// Without values it returns the API. Different spellings of one URL name the same resource.
// It fails with invalid_target for unknown resources and for two different ones (RFC 8707
// section 2).
func (t targets) requestedResource(values []string) (access.Resource, *refusal) {
	target := access.API
	for i, value := range values {
		address, err := canonicalAddress(value)
		if err != nil {
			return target, invalidTarget("`resource` " + err.Error() + ". " + t.listAddresses())
		}
		named, ok := t.findResource(address)
		if !ok {
			return target, invalidTarget("`resource` names no resource of this server. " + t.listAddresses())
		}
		if i > 0 && named != target {
			return target, invalidTarget("`resource` names two resources. A token is for one; request another token for the other.")
		}
		target = named
	}
	return target, nil
}

func (t targets) listAddresses() string {
	return "The resources are " + t.api + " (the default) and " + t.agent + "."
}

// canonicalAddress returns the canonical form of an http or https URL: scheme and host in
// lower case, no default port, no trailing slash. Tokens and metadata use this form;
// clients may send other forms of the URL.
func canonicalAddress(value string) (string, error) {
	u, err := url.Parse(value)
	switch {
	case err != nil:
		return "", errors.New("must be a URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Hostname() == "":
		return "", errors.New("must be an absolute http or https URL")
	case strings.Contains(value, "#"):
		return "", errors.New("must not have a fragment")
	case u.User != nil || strings.Contains(value, "?"):
		return "", errors.New("must not have a user or a query")
	}
	host := strings.ToLower(u.Host)
	for scheme, port := range map[string]string{"http": ":80", "https": ":443"} {
		if u.Scheme == scheme {
			host = strings.TrimSuffix(host, port)
		}
	}
	return u.Scheme + "://" + host + strings.TrimSuffix(u.EscapedPath(), "/"), nil
}

// isOrigin reports whether a canonical URL has no path.
func isOrigin(address string) bool {
	_, rest, _ := strings.Cut(address, "://")
	return !strings.Contains(rest, "/")
}
