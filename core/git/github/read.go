package github

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/git"
)

// maxPath is the maximum number of bytes of a path that is looked at.
const maxPath = 4096

// head is the newest commit of the default branch.
type head struct {
	branch, commit, tree string
	at                   time.Time
}

// Fetch reads the newest commit; see [git.Host].
func (a *App) Fetch(ctx context.Context, c git.Connection, open []git.Proposal) (git.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	newest, err := a.head(ctx, c)
	if err != nil {
		return git.Snapshot{}, explain(ctx, err)
	}
	r := a.newReader(c, newest)
	entries, err := r.entries(ctx)
	if err != nil {
		return git.Snapshot{}, explain(ctx, err)
	}
	tree, diagnostics, err := git.Collect(ctx, entries, r.read)
	if err != nil {
		return git.Snapshot{}, explain(ctx, err)
	}
	states, err := a.states(ctx, c, open)
	if err != nil {
		return git.Snapshot{}, explain(ctx, err)
	}
	return git.Snapshot{
		Revision: git.Revision{Branch: newest.branch, Commit: newest.commit, CommittedAt: newest.at},
		Tree:     tree, Diagnostics: diagnostics, States: states,
		FilesURL: git.FilesOnGitHub(a.web+"/"+c.Location, newest.commit, c.PathPrefix),
	}, nil
}

// explain returns a Refusal for an exceeded time, and other errors as they are.
func explain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return git.Refuse("The repository was not read within %s. Connect a repository with fewer files, or name the folder of the definitions as the path prefix.", fetchTime)
	}
	return err
}

// head asks for the default branch and its newest commit.
func (a *App) head(ctx context.Context, c git.Connection) (head, error) {
	var about struct {
		FullName      string `json:"full_name"`
		DefaultBranch string `json:"default_branch"`
	}
	got, err := a.onRepository(ctx, c, request{method: http.MethodGet, want: http.StatusOK, into: &about})
	switch {
	case err != nil:
		return head{}, err
	case got.Status != http.StatusOK:
		return head{}, got.refusal(c)
	case !strings.EqualFold(about.FullName, c.Location):
		return head{}, git.Refuse("The repository %s has the name %s now. Connect it again.", core.Quote(c.Location), core.Quote(about.FullName))
	}
	var branch struct {
		Commit struct {
			SHA    string `json:"sha"`
			Commit struct {
				Tree struct {
					SHA string `json:"sha"`
				} `json:"tree"`
				Committer struct {
					Date time.Time `json:"date"`
				} `json:"committer"`
			} `json:"commit"`
		} `json:"commit"`
	}
	got, err = a.onRepository(ctx, c, request{method: http.MethodGet, path: "/branches/" + url.PathEscape(about.DefaultBranch), want: http.StatusOK, into: &branch})
	switch {
	case err != nil:
		return head{}, err
	case got.Status == http.StatusNotFound:
		return head{}, git.Refuse("The repository %s has no commit on its default branch %s. Commit a %s there.", core.Quote(c.Location), core.Quote(about.DefaultBranch), "mailhelm.json")
	case got.Status != http.StatusOK:
		return head{}, got.refusal(c)
	}
	newest := head{about.DefaultBranch, branch.Commit.SHA, branch.Commit.Commit.Tree.SHA, branch.Commit.Commit.Committer.Date}
	if !isID(newest.commit) || !isID(newest.tree) {
		return head{}, errors.New("github: a commit without id")
	}
	return newest, nil
}

// isID reports whether a text is the id of an object: hexadecimal digits of SHA-1 or SHA-256.
func isID(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// reader reads the files of a commit.
type reader struct {
	*App
	c       git.Connection
	head    head
	sizes   map[string]int64    // of files, by id
	folders map[string][]listed // that were listed, by id
}

func (a *App) newReader(c git.Connection, newest head) *reader {
	return &reader{App: a, c: c, head: newest, sizes: map[string]int64{}, folders: map[string][]listed{}}
}

// listed is an entry of a folder as the API lists it.
type listed struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	Type string `json:"type"`
	SHA  string `json:"sha"`
	Size int64  `json:"size"`
}

// kind returns the kind of the entry.
func (l listed) kind() git.EntryKind {
	switch {
	case l.Type == "tree":
		return git.Folder
	case l.Type == "commit":
		return git.Submodule
	case l.Mode == "120000":
		return git.Symlink
	default:
		return git.File
	}
}

// list returns the entries of a folder, with those of all folders in it if recursive is true.
func (r *reader) list(ctx context.Context, folder string, recursive bool) ([]listed, error) {
	var tree struct {
		Entries   []listed `json:"tree"`
		Truncated bool     `json:"truncated"`
	}
	query := url.Values{}
	if recursive {
		query.Set("recursive", "1")
	}
	got, err := r.onRepository(ctx, r.c, request{method: http.MethodGet, path: "/git/trees/" + folder, query: query, want: http.StatusOK, into: &tree})
	switch {
	case err != nil:
		return nil, err
	case got.Status != http.StatusOK:
		return nil, got.refusal(r.c)
	case tree.Truncated:
		return nil, git.Refuse("The folder of the path prefix in the branch %s has so many files that GitHub lists only a part (truncated). Name the folder of the definitions as the path prefix.", core.Quote(r.head.branch))
	}
	return tree.Entries, nil
}

// entries returns the files and folders below the path prefix.
func (r *reader) entries(ctx context.Context) ([]git.Entry, error) {
	folder, err := r.folder(ctx)
	if err != nil {
		return nil, err
	}
	all, err := r.list(ctx, folder, true)
	if err != nil {
		return nil, err
	}
	if len(all) > git.MaxEntries {
		return nil, git.RefuseEntries(r.head.branch)
	}
	entries := make([]git.Entry, 0, len(all))
	for _, l := range all {
		// A name that no checkout could have names no file of a bundle.
		if !isID(l.SHA) || len(l.Path) > maxPath || l.Path != path.Clean(l.Path) || path.IsAbs(l.Path) || l.Path == "." || strings.HasPrefix(l.Path, "..") {
			continue
		}
		entries = append(entries, git.Entry{Path: l.Path, Kind: l.kind(), ID: l.SHA})
		r.sizes[l.SHA] = l.Size
	}
	return entries, nil
}

// folder returns the id of the folder of the path prefix. Its parts must be folders themselves.
func (r *reader) folder(ctx context.Context) (string, error) {
	if r.c.PathPrefix == "" {
		return r.head.tree, nil
	}
	found, at, err := r.find(ctx, r.c.PathPrefix)
	switch {
	case err != nil:
		return "", err
	case found == nil:
		return "", git.RefuseNoPrefix(r.head.branch, r.c.PathPrefix)
	case found.kind() != git.Folder:
		return "", git.RefusePrefix(r.c.PathPrefix, at, found.kind())
	}
	return found.SHA, nil
}

// find returns the entry of a path from the root of the repository, nil if there is none, with its
// path. If a part of the path is no folder, it returns that part.
func (r *reader) find(ctx context.Context, name string) (*listed, string, error) {
	at, walked := r.head.tree, ""
	for rest := name; ; {
		part, next, more := strings.Cut(rest, "/")
		walked = path.Join(walked, part)
		all, known := r.folders[at]
		if !known {
			var err error
			if all, err = r.list(ctx, at, false); err != nil {
				return nil, "", err
			}
			r.folders[at] = all
		}
		i := slices.IndexFunc(all, func(l listed) bool { return l.Path == part })
		if i < 0 || !isID(all[i].SHA) {
			return nil, walked, nil
		}
		if !more || all[i].kind() != git.Folder {
			return &all[i], walked, nil
		}
		at, rest = all[i].SHA, next
	}
}

// read returns the content of a file; see [git.Collect].
func (r *reader) read(ctx context.Context, e git.Entry, limit int64) ([]byte, error) {
	if r.sizes[e.ID] > limit {
		return nil, git.ErrTooLarge
	}
	key := blobKey{tokenKey{r.c.Installation, strings.ToLower(r.c.Location)}, e.ID}
	if content, ok := r.blobs.get(key); ok && int64(len(content)) <= limit {
		return content, nil
	}
	var blob struct {
		Content  string `json:"content"`
		Encoding string `json:"encoding"`
	}
	got, err := r.onRepository(ctx, r.c, request{method: http.MethodGet, path: "/git/blobs/" + e.ID, want: http.StatusOK, into: &blob})
	switch {
	case err != nil:
		return nil, err
	case got.Status == http.StatusForbidden && bytes.Contains(got.Body, []byte("too_large")):
		return nil, git.ErrTooLarge // more than 100 MB
	case got.Status != http.StatusOK:
		return nil, got.refusal(r.c)
	}
	content := []byte(blob.Content)
	if blob.Encoding == "base64" {
		if content, err = base64.StdEncoding.DecodeString(strings.ReplaceAll(blob.Content, "\n", "")); err != nil {
			return nil, errors.New("github: a file is not in base64")
		}
	}
	if int64(len(content)) > limit {
		return nil, git.ErrTooLarge
	}
	if len(e.ID) == len(git.BlobID(nil)) && git.BlobID(content) != e.ID {
		return nil, fmt.Errorf("github: the file %s has another content than its id says", core.Quote(e.Path))
	}
	r.blobs.put(key, content)
	return content, nil
}

// maxStates is the number of proposals whose states a Fetch asks for.
const maxStates = 50

// states returns the states of proposals that are decided.
func (a *App) states(ctx context.Context, c git.Connection, open []git.Proposal) (map[string]git.ProposalState, error) {
	states := map[string]git.ProposalState{}
	for _, p := range open[:min(len(open), maxStates)] {
		found, err := a.pullsOf(ctx, c, p.Branch)
		if err != nil {
			return nil, err
		}
		switch {
		case len(found) == 0:
			states[p.Branch] = git.Closed // the repository was made anew, for example
		case found[0].State != "open" && found[0].MergedAt != nil:
			states[p.Branch] = git.Merged
		case found[0].State != "open":
			states[p.Branch] = git.Closed
		}
	}
	return states, nil
}

// pull is a pull request.
type pull struct {
	Number   int64            `json:"number"`
	State    string           `json:"state"`
	MergedAt *json.RawMessage `json:"merged_at"`
}

// pullsOf returns the pull requests of a branch: open ones first, then the newest.
func (a *App) pullsOf(ctx context.Context, c git.Connection, branch string) ([]pull, error) {
	owner, _, _ := strings.Cut(c.Location, "/")
	var all []pull
	got, err := a.onRepository(ctx, c, request{
		method: http.MethodGet, path: "/pulls", want: http.StatusOK, into: &all,
		query: url.Values{"head": {owner + ":" + branch}, "state": {"all"}, "sort": {"created"}, "direction": {"desc"}, "per_page": {"100"}},
	})
	switch {
	case err != nil:
		return nil, err
	case got.Status != http.StatusOK:
		return nil, got.refusal(c)
	}
	for i, p := range all {
		if p.State == "open" {
			all[0], all[i] = all[i], all[0]
			break
		}
	}
	return all, nil
}

// addressOf returns the page of a pull request.
func (a *App) addressOf(c git.Connection, p pull) string {
	return a.web + "/" + c.Location + "/pull/" + strconv.FormatInt(p.Number, 10)
}
