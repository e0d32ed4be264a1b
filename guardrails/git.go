package guardrails

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// RepositoryHost is the service that hosts the git repositories of organizations.
type RepositoryHost interface {
	// OpenPullRequest opens a pull request for the change in the organization's repository,
	// on a branch of this name. It never merges the pull request. If the branch already has
	// an open pull request, it returns that one.
	OpenPullRequest(ctx context.Context, orgID, branch string, change core.RepositoryChange) (core.PullRequest, error)
}

// git protects definitions, such as topics, that the organization keeps in a connected Git
// repository. Depending on the operation's declaration, it refuses the write or lets the
// call open a pull request instead. A definition that is edited in Mailhelm is saved directly.
func git(ctx context.Context, p *passage) error {
	if !p.call.Principal.Org.GitConnected {
		return p.next(ctx)
	}
	switch p.info.GitOwned {
	case core.GitRefused:
		return p.gitOwnedError()
	case core.GitPullRequest:
		managed, err := p.op.IsManaged(ctx, p.call, p.in)
		if err != nil {
			return err
		}
		if managed {
			break
		}
		if p.guard.Repositories == nil {
			return core.PullRequestRequired(p.call, "definition")
		}
		p.byPullRequest = true
	}
	return p.next(ctx)
}

// gitOwnedError returns an error with the code git_owned on the agent surface and conflict
// on REST.
func (p *passage) gitOwnedError() error {
	code := core.CodeConflict
	if p.call.Surface == core.Agent {
		code = core.CodeGitOwned
	}
	return &core.Error{
		Code: code, Message: "This organization's definitions are owned by its connected repository.",
		Next: "Change the definition in the repository and let it sync.",
	}
}

// propose opens a pull request with the change that the write would make. It replaces the
// operation's Prepare, so it runs before the transaction. It also runs after the replay
// check, so that a repeated call opens no second pull request.
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

// branch returns the name of the branch for a call's pull request. Every attempt of a call
// gets the same name, so that a later attempt finds the pull request of an attempt that
// did not commit. A call with another idempotency key gets another name.
func (p *passage) branch() (string, error) {
	arguments, err := p.canonicalArguments()
	if err != nil {
		return "", err
	}
	return "mailhelm/" + p.info.Name + "-" + digestOf(arguments, p.req.IdempotencyKey)[:16], nil
}
