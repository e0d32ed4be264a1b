package oauth

import (
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// grantedScopes reads a `scope` parameter (RFC 6749 section 3.3) against what
// the client is registered for. Without one the token gets every registered
// scope; a scope that is unknown or not registered refuses the whole request,
// because a token with less than was asked for fails later and further away.
func grantedScopes(requested string, registered core.Scopes) (core.Scopes, *refusal) {
	var names []string
	for name := range strings.SplitSeq(requested, " ") {
		if name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return registered, nil
	}
	for i, name := range names {
		scope := core.Scope(name)
		if !scope.Known() {
			return nil, invalidScope("There is no scope " + sayScope(name, i) + ". The metadata lists those there are.")
		}
		if !registered.Has(scope) {
			return nil, invalidScope("The client is not registered for the scope " + name + ".")
		}
	}
	return core.NewScopes(names...), nil
}

// sayScope repeats what was asked for only when it looks like a scope. The
// description is logged too, and a misplaced secret must not be.
func sayScope(name string, position int) string {
	if len(name) <= 64 && strings.HasPrefix(name, "api.") && !strings.ContainsFunc(name, notInScope) {
		return name
	}
	return "like number " + strconv.Itoa(position+1) + " of the request"
}

func notInScope(r rune) bool {
	return (r < 'a' || r > 'z') && r != '.' && r != '_'
}
