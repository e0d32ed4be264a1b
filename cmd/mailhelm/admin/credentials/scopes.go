package credentials

import (
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// parseScopes parses names of scopes, "all" for every scope, and "read" for every read-only
// scope. It ignores white space around names and fails for an unknown name. The result has
// no duplicates.
func parseScopes(names []string) (core.Scopes, error) {
	var chosen []string
	for _, name := range names {
		switch name = strings.TrimSpace(name); {
		case name == "all":
			chosen = append(chosen, core.AllScopes().Strings()...)
		case name == "read":
			for _, scope := range core.AllScopes().Strings() {
				if strings.HasSuffix(scope, ".view") {
					chosen = append(chosen, scope)
				}
			}
		case core.Scope(name).IsKnown():
			chosen = append(chosen, name)
		default:
			return nil, fmt.Errorf("there is no scope %q: give names such as api.contacts.view, or all, or read", name)
		}
	}
	return core.NewScopes(chosen...), nil
}
