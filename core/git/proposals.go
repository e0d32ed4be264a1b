package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Proposals proposes changes of the repositories of organizations. It is the repository host of the
// guardrails.
type Proposals struct {
	Settings Settings
	// Hosts has the Host of each kind that this server can read.
	Hosts map[Kind]Host
}

// OpenPullRequest proposes a change on a branch of the organization's repository. For a branch that
// exists, it returns the proposal that the branch is for. It uses the network, so it must not run in a
// transaction. It fails with core.CodeConflict, with what to do, if the repository cannot take the
// change.
func (p Proposals) OpenPullRequest(ctx context.Context, orgID, branch string, change core.RepositoryChange) (core.PullRequest, error) {
	c, connected, err := p.Settings.Of(ctx, orgID)
	if err != nil {
		return core.PullRequest{}, err
	}
	host := p.Hosts[c.Kind]
	if !connected || host == nil {
		return core.PullRequest{}, core.Conflict("The organization has no repository that this server can write.", "Connect one on the page Repository of the dashboard.")
	}
	if c.Revision.Commit == "" {
		return core.PullRequest{}, core.Conflict("The repository of the organization was not read yet.", "Try again after its first sync. If that fails, the page Repository of the dashboard says why.")
	}
	if change.Files, err = filesOf(change, c); err != nil {
		return core.PullRequest{}, asConflict(err)
	}
	change.Definitions = nil
	opened, err := host.Propose(ctx, c, branch, change)
	if errors.Is(err, ErrMoved) {
		if err := p.Settings.RequestSync(ctx, orgID); err != nil {
			return core.PullRequest{}, err
		}
		return core.PullRequest{}, core.Conflict("The repository has commits that are not applied yet. A sync was requested.", "Read the definition again in some seconds, apply your change to it, and call again.")
	}
	if later, ok := errors.AsType[*Later](err); ok {
		return core.PullRequest{}, &core.Error{
			Code: core.CodeRateLimited, Message: "The server of the repository limits the number of requests.", Next: "Call again after the time in retry_after.",
			RetryAfter: max(later.Until.Sub(p.Settings.Clock()), time.Second),
		}
	}
	if err != nil {
		return core.PullRequest{}, asConflict(err)
	}
	opened.Branch = branch
	blobs := map[string]string{}
	for name, content := range change.Files {
		if content == nil {
			blobs[name] = ""
			continue
		}
		blobs[name] = BlobID(content)
	}
	return opened, p.Settings.Store.SaveProposal(ctx, orgID, Proposal{
		Branch: branch, Title: change.Title, URL: opened.URL, State: Open, Blobs: blobs, Operation: operationOf(branch), CreatedAt: p.Settings.Clock(),
	})
}

// Promote proposes to put a managed definition into the repository. Called again for the same content, it
// returns the same proposal. It fails as OpenPullRequest does.
func (p Proposals) Promote(ctx context.Context, orgID string, d core.RepositoryDefinition) (core.PullRequest, error) {
	sum := sha256.Sum256([]byte(strings.Join([]string{d.Kind, d.Key, d.Source, d.Subject, d.Text, d.Name, d.Description}, "\x00")))
	branch := "mailhelm/promote-" + hex.EncodeToString(sum[:8])
	return p.OpenPullRequest(ctx, orgID, branch, core.RepositoryChange{Title: "Add the " + d.Kind + " " + d.Key, Definitions: []core.RepositoryDefinition{d}})
}

// asConflict returns a Refusal as an error for callers, and other errors as they are.
func asConflict(err error) error {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return core.Conflict(refusal.Reason, "Correct this in the repository or on the page Repository of the dashboard, and call again.")
	}
	return err
}

// operationOf returns the operation in the name of a branch: "templates_author" for
// "mailhelm/templates_author-0123".
func operationOf(branch string) string {
	name := branch[strings.LastIndexByte(branch, '/')+1:]
	operation, _, _ := strings.Cut(name, "-")
	return operation
}
