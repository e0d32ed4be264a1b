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
	asked, refused := readScopes(requested)
	if refused != nil {
		return nil, refused
	}
	if len(asked) == 0 {
		return registered, nil
	}
	if missing := registered.Missing(asked); missing != "" {
		return nil, invalidScope("The client is not registered for the scope " + string(missing) + ".")
	}
	return asked, nil
}

// offeredScopes is grantedScopes for a person's consent, where what the client is
// not registered for is left out as long as something remains. MCP clients ask
// for every scope in the resource's metadata, whatever they are registered for,
// and the token answer says what was granted.
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

// readScopes takes the parameter apart, and refuses names that no scope has.
func readScopes(requested string) (core.Scopes, *refusal) {
	var names []string
	for name := range strings.SplitSeq(requested, " ") {
		if name == "" {
			continue
		}
		if !core.Scope(name).Known() {
			return nil, invalidScope("There is no scope " + sayScope(name, len(names)) + ". The metadata lists those there are.")
		}
		names = append(names, name)
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
