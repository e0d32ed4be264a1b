package git

import (
	"context"
	"crypto/sha1" //nolint:gosec // see BlobID
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

// Host reads and changes repositories of one kind. Its methods use the network or a disk, so they
// run outside transactions. They end when ctx ends, and limit time and memory themselves. They fail
// with a *[Refusal] for a reason that people can remove, with a *[Later] if the server asks to wait,
// and with any other error for what may pass by itself.
type Host interface {
	// Fetch reads the newest commit of the default branch, which it asks for at each call. It also
	// returns the states of the given proposals, which were open.
	Fetch(ctx context.Context, c Connection, open []Proposal) (Snapshot, error)
	// Propose commits the files of the change on a new branch, which begins at the commit of
	// c.Revision, and asks for its review where the kind of repository has a way. It never writes the
	// default branch. If the branch exists already, it changes nothing and returns the proposal that
	// the branch is for. It fails with [ErrMoved] if that commit is no longer the newest of the
	// default branch, because the change was made without knowing later ones. The change has no
	// Definitions.
	Propose(ctx context.Context, c Connection, branch string, change core.RepositoryChange) (core.PullRequest, error)
}

// ErrMoved is the error of Host.Propose for a default branch that has commits after the last sync.
var ErrMoved = errors.New("the default branch has newer commits")

// Snapshot is what Host.Fetch has read.
type Snapshot struct {
	Revision Revision
	// Tree has the files that the manifest names, by their paths below Connection.PathPrefix. Use
	// [Collect] to make it.
	Tree archive.Tree
	// Diagnostics are about files that were not read. Their paths are as in Tree.
	Diagnostics []definitions.Diagnostic
	// FilesURL is the address below which a browser shows the files of Tree as they are in the
	// Revision, without "/" at its end, "" if there is none. See [FilesOnGitHub].
	FilesURL string
	// States has the states of proposals by branch. A branch that is not in it is still open.
	States map[string]ProposalState
}

// ProposalState says whether people have decided about a proposal.
type ProposalState string

// The states of proposals.
const (
	Open   ProposalState = "open"
	Merged ProposalState = "merged"
	// Closed is also the state of a branch that is gone from a repository without pull requests, if the
	// default branch does not have its contents. A proposal that was edited and merged as another
	// commit is one of them. A repository that is read without its history cannot tell it from one
	// that people turned down while they changed the same files, and "merged" would say that a
	// change is in use that is not.
	Closed ProposalState = "closed"
)

// Proposal is a change on a branch that awaits review.
type Proposal struct {
	Branch, Title string
	// URL is the page of the pull request, "" if the repository has none.
	URL   string
	State ProposalState
	// Blobs has the id of the blob (the object of the content) of each changed file by its path
	// from the root, "" for a removed one. A proposal is merged if the default branch has them all.
	Blobs map[string]string
	// Operation is the name of the operation that made the change, such as templates_author.
	Operation string
	CreatedAt time.Time
}

// FilesOnGitHub returns the address of the files of a commit below a folder, in the repository on GitHub whose
// page has the address page.
func FilesOnGitHub(page, commit, folder string) string {
	address := page + "/blob/" + commit
	if folder != "" {
		address += "/" + definitions.EscapePath(folder)
	}
	return address
}

// BlobID returns the id that Git gives to the content of a file.
func BlobID(content []byte) string {
	h := sha1.New() //nolint:gosec // Git names contents by SHA-1; nothing is proven by it
	_, _ = fmt.Fprintf(h, "blob %d\x00", len(content))
	_, _ = h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// Refusal is a failure with a reason that people can remove: a repository that does not exist, is
// too large, or refuses the credentials. Reason is a sentence for people, which may quote names of
// the repository and has no secrets.
type Refusal struct{ Reason string }

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }

// Later is the failure of a Host whose server limits the number of requests. The same call may succeed
// after the time Until.
type Later struct{ Until time.Time }

// Error says when requests may begin again.
func (l *Later) Error() string {
	return "the server of the repository asks to wait until " + l.Until.UTC().Format(time.RFC3339)
}
