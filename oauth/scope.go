package oauth

import (
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// grantedScopes returns the scopes that a `scope` parameter names (RFC 6749 section 3.3).
// If the parameter is empty, it returns all scopes for which the client is registered. It
// fails for unknown and unregistered scopes. A token with fewer scopes than requested would
// fail later, where the cause is harder to see.
func grantedScopes(requested string, registered core.Scopes) (core.Scopes, *refusal) {
	asked, refused := readScopes(requested)
	if refused != nil {
		return nil, refused
	}
	if len(asked) == 0 {
		return registered, nil
	}
	if missing := registered.FirstMissing(asked); missing != "" {
		return nil, invalidScope("The client is not registered for the scope " + string(missing) + ".")
	}
	return asked, nil
}

// offeredScopes returns the requested scopes to show on a consent page. Unlike
// grantedScopes it drops unregistered scopes and fails only if none is left, because MCP
// clients request every scope in the resource's metadata, registered for it or not. The
// token response lists the granted scopes.
func offeredScopes(requested string, registered core.Scopes) (core.Scopes, *refusal) {
	asked, refused := readScopes(requested)
	if refused != nil {
		return nil, refused
	}
	if len(asked) == 0 {
		return registered, nil
	}
	offered := registered.Intersect(asked)
	if len(offered) == 0 {
		return nil, invalidScope("The client is registered for no scope that it asks for.")
	}
	return offered, nil
}

// readScopes parses a `scope` parameter. It fails for an unknown scope.
func readScopes(requested string) (core.Scopes, *refusal) {
	var names []string
	for name := range strings.SplitSeq(requested, " ") {
		if name == "" {
			continue
		}
		if !core.Scope(name).IsKnown() {
			return nil, invalidScope("There is no scope " + scopeText(name, len(names)) + ". The metadata lists all scopes.")
		}
		names = append(names, name)
	}
	return core.NewScopes(names...), nil
}

// scopeText returns the text that stands for an unknown scope in an error description. That
// is the scope's name if it has the form of a scope. Any other name may be a misplaced
// secret, and descriptions are logged. For such a name, the text has only the scope's
// position in the request.
func scopeText(name string, position int) string {
	if len(name) <= 64 && strings.HasPrefix(name, "api.") && !strings.ContainsFunc(name, notInScope) {
		return name
	}
	return "like number " + strconv.Itoa(position+1) + " of the request"
}

func notInScope(r rune) bool {
	return (r < 'a' || r > 'z') && r != '.' && r != '_'
}
