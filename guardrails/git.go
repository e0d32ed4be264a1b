package guardrails

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// RepositoryHost hosts the repositories that organizations connect.
type RepositoryHost interface {
	// OpenPullRequest proposes the change to the organization's repository on a branch of
	// that name, and never merges it. When the branch has an open request, it returns that
	// request.
	OpenPullRequest(ctx context.Context, orgID, branch string, change core.RepositoryChange) (core.PullRequest, error)
}

// git protects definitions that a connected repository owns. Depending on the operation's
// declaration, it refuses the write or opens a pull request; see propose.
func git(ctx context.Context, p *passage) error {
	if !p.call.Principal.Org.GitConnected {
		return p.next(ctx)
	}
	switch p.info.GitOwned {
	case core.GitRefused:
		return p.gitOwnedError("This organization's definitions are owned by its connected repository.",
			"Change the definition in the repository and let it sync.")
	case core.GitPullRequest:
		if p.guard.Repositories == nil {
			return p.gitOwnedError("This organization's definitions change by pull request, and its repository cannot be reached from here.",
				"Open the pull request in the repository.")
		}
		p.byPullRequest = true
	}
	return p.next(ctx)
}

// gitOwnedError returns the refusal: git_owned for agents, conflict for routes.
func (p *passage) gitOwnedError(message, next string) error {
	code := core.CodeConflict
	if p.call.Surface == core.Agent {
		code = core.CodeGitOwned
	}
	return &core.Error{Code: code, Message: message, Next: next}
}

// propose opens the pull request for the write. It runs in place of Prepare, before the
// transaction. It runs after the replay rail, so that a repeated call opens no second
// request.
func (p *passage) propose(ctx context.Context) error {
	branch, err := p.branch()
	if err != nil {
		return err
	}
	p.out, err = p.op.Propose(ctx, p.call, p.in, func(ctx context.Context, change core.RepositoryChange) (core.PullRequest, error) {
		return p.guard.Repositories.OpenPullRequest(ctx, p.call.Principal.Org.ID, branch, change)
	})
	return err
}

// branch returns the branch name for a call. Every attempt at the same call gets the same
// name, so a repeated call finds the pull request of an attempt that did not commit. A call
// with another idempotency key gets another name.
func (p *passage) branch() (string, error) {
	arguments, err := p.canonicalArguments()
	if err != nil {
		return "", err
	}
	return "mailhelm/" + p.info.Name + "-" + digestOf(arguments, p.req.IdempotencyKey)[:16], nil
}
