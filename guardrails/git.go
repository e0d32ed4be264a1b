package guardrails

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// git refuses writes to definitions that a repository owns. An operation that
// becomes a pull request handles that itself: it knows the repository.
func git(ctx context.Context, p *passage) error {
	if p.info.GitOwned != core.GitRefused || !p.call.Principal.Org.GitConnected {
		return p.next(ctx)
	}
	code := core.CodeConflict
	if p.call.Surface == core.Agent {
		code = core.CodeGitOwned
	}
	return &core.Error{
		Code:    code,
		Message: "This organization's definitions are owned by its connected repository.",
		Next:    "Change the definition in the repository and let it sync.",
	}
}
