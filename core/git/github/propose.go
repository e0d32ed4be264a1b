package github

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/git"
)

// Propose opens a pull request with a change; see [git.Host]. A branch whose pull request is missing,
// because an earlier attempt was interrupted, gets one.
func (a *App) Propose(ctx context.Context, c git.Connection, branch string, change core.RepositoryChange) (core.PullRequest, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	made, err := a.propose(ctx, c, branch, change)
	if err != nil {
		return core.PullRequest{}, explain(ctx, err)
	}
	return core.PullRequest{URL: a.addressOf(c, made), Branch: branch}, nil
}

func (a *App) propose(ctx context.Context, c git.Connection, branch string, change core.RepositoryChange) (pull, error) {
	for part := range strings.SplitSeq(branch, "/") {
		if !isName(part) {
			return pull{}, git.Refuse("%s is not the name of a branch for a proposal.", core.Quote(branch))
		}
	}
	newest, err := a.head(ctx, c)
	if err != nil {
		return pull{}, err
	}
	if branch == newest.branch {
		return pull{}, git.Refuse("%s is the default branch, which is never written.", core.Quote(branch))
	}
	exists, err := a.hasBranch(ctx, c, branch)
	if err != nil {
		return pull{}, err
	}
	if !exists && newest.commit != c.Revision.Commit {
		return pull{}, git.ErrMoved
	}
	if !exists {
		if err := a.newBranch(ctx, c, branch, newest, change); err != nil {
			return pull{}, err
		}
	} else if found, err := a.pullsOf(ctx, c, branch); err != nil || len(found) > 0 {
		return first(found), err
	}
	return a.openPull(ctx, c, branch, newest, change)
}

// first returns the first pull request, the zero value if there is none.
func first(all []pull) pull {
	if len(all) == 0 {
		return pull{}
	}
	return all[0]
}

// hasBranch reports whether a branch exists.
func (a *App) hasBranch(ctx context.Context, c git.Connection, branch string) (bool, error) {
	got, err := a.onRepository(ctx, c, request{method: http.MethodGet, path: "/git/ref/heads/" + branch, want: http.StatusOK})
	switch {
	case err != nil:
		return false, err
	case got.Status == http.StatusNotFound:
		return false, nil
	case got.Status != http.StatusOK:
		return false, got.refusal(c)
	}
	return true, nil
}

// newBranch commits a change on a new branch.
func (a *App) newBranch(ctx context.Context, c git.Connection, branch string, newest head, change core.RepositoryChange) error {
	tree, err := a.changedTree(ctx, c, newest, change)
	if err != nil {
		return err
	}
	if tree == newest.tree {
		return git.RefuseEmpty(newest.branch)
	}
	commit, err := a.create(ctx, c, "/git/commits", map[string]any{
		"message": strings.TrimSpace(strings.TrimSpace(change.Title) + "\n\n" + strings.TrimSpace(change.Message)), "tree": tree, "parents": []string{newest.commit},
	})
	if err != nil {
		return err
	}
	got, err := a.onRepository(ctx, c, request{
		method: http.MethodPost, path: "/git/refs", want: http.StatusCreated, body: map[string]any{"ref": "refs/heads/" + branch, "sha": commit},
	})
	switch {
	case err != nil:
		return err
	case got.Status == http.StatusCreated:
		return nil
	}
	if exists, err := a.hasBranch(ctx, c, branch); err != nil || exists {
		return err // another attempt made it
	}
	return got.refusal(c)
}

// changedTree makes the folder of the repository with the change and returns its id.
func (a *App) changedTree(ctx context.Context, c git.Connection, newest head, change core.RepositoryChange) (string, error) {
	r := a.newReader(c, newest)
	entries := make([]map[string]any, 0, len(change.Files))
	for _, name := range slices.Sorted(maps.Keys(change.Files)) {
		entry, err := r.changedEntry(ctx, name, change.Files[name])
		if err != nil {
			return "", err
		}
		if entry != nil {
			entries = append(entries, entry)
		}
	}
	if len(entries) == 0 {
		return newest.tree, nil
	}
	return a.create(ctx, c, "/git/trees", map[string]any{"base_tree": newest.tree, "tree": entries})
}

// changedEntry returns a changed file in the form of the API, nil for a file that is to be removed and
// does not exist. It makes the content.
func (r *reader) changedEntry(ctx context.Context, name string, content []byte) (map[string]any, error) {
	if reason := archive.CheckPath(name); reason != "" {
		return nil, git.RefusePath(name, reason)
	}
	before, at, err := r.find(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case before != nil && at != name:
		return nil, git.RefuseBelow(at, before.kind(), r.head.branch)
	case before != nil && before.kind() != git.File:
		return nil, git.RefuseNoFile(name, r.head.branch)
	case before == nil && content == nil:
		return nil, nil
	}
	entry := map[string]any{"path": name, "mode": "100644", "type": "blob", "sha": nil} // null removes the file
	if before != nil {
		entry["mode"] = before.Mode
	}
	if content != nil {
		entry["sha"], err = r.create(ctx, r.c, "/git/blobs", map[string]any{"content": base64.StdEncoding.EncodeToString(content), "encoding": "base64"})
	}
	return entry, err
}

// create makes an object of the repository and returns its id.
func (a *App) create(ctx context.Context, c git.Connection, path string, body map[string]any) (string, error) {
	var made struct {
		SHA string `json:"sha"`
	}
	got, err := a.onRepository(ctx, c, request{method: http.MethodPost, path: path, body: body, want: http.StatusCreated, into: &made})
	switch {
	case err != nil:
		return "", err
	case got.Status != http.StatusCreated:
		return "", got.refusal(c)
	case !isID(made.SHA):
		return "", errors.New("github: an object without id")
	}
	return made.SHA, nil
}

// openPull opens the pull request of a branch.
func (a *App) openPull(ctx context.Context, c git.Connection, branch string, newest head, change core.RepositoryChange) (pull, error) {
	var made pull
	got, err := a.onRepository(ctx, c, request{
		method: http.MethodPost, path: "/pulls", want: http.StatusCreated, into: &made,
		body: map[string]any{"title": strings.TrimSpace(change.Title), "body": strings.TrimSpace(change.Message), "head": branch, "base": newest.branch},
	})
	switch {
	case err != nil:
		return pull{}, err
	case got.Status == http.StatusCreated:
		return made, nil
	case got.Status == http.StatusUnprocessableEntity:
		if found, err := a.pullsOf(ctx, c, branch); err != nil || len(found) > 0 {
			return first(found), err // another attempt opened it
		}
	}
	return pull{}, got.refusal(c)
}
