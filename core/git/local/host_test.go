package local_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/git/gittest"
	"github.com/mailhelm/mailhelm/core/git/local"
	"github.com/mailhelm/mailhelm/core/outbound"
)

// files are the definitions of the test repositories, below the folder mail.
var files = map[string]string{
	"mail/mailhelm.json":         `{"templates": {"welcome": {"path": "templates/welcome.hbs"}}, "workflows": {"trial": {"path": "workflows/trial.flow"}}}`,
	"mail/templates/welcome.hbs": "<p>Hello</p>\n", "mail/workflows/trial.flow": "workflow\n", "mail/README.md": "not read\n", "main.go": "package main\n",
}

// config returns the configuration of a Host for repositories below a folder, and on loopback.
func config(folder string, s gittest.Server) local.Config {
	return local.Config{
		Folder: folder, Scratch: folder, RootCAs: s.Roots, Guard: outbound.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, 443),
		Clock: func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) }, Log: slog.New(slog.DiscardHandler),
	}
}

// reasonOf returns the text of a Refusal.
func reasonOf(t *testing.T, err error) string {
	t.Helper()
	refusal, ok := errors.AsType[*git.Refusal](err)
	if !ok {
		t.Errorf("%v, want a refusal", err)
		return ""
	}
	return refusal.Reason
}

// TestJourney reads, proposes, merges and reads again, in a folder and over HTTPS.
func TestJourney(t *testing.T) {
	t.Parallel()
	for _, kind := range []git.Kind{git.Local, git.Remote} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			r := gittest.New(t, folder)
			s := r.Serve(func(w http.ResponseWriter, request *http.Request) bool {
				user, password, _ := request.BasicAuth()
				if user == "ada" && password == "secret" {
					return false
				}
				w.WriteHeader(http.StatusUnauthorized)
				return true
			})
			host := local.New(config(folder, s))
			c := git.Connection{Kind: kind, Location: map[git.Kind]string{git.Local: r.Bare, git.Remote: s.URL}[kind], PathPrefix: "mail", Username: "ada", Secret: "secret"}
			if _, err := host.Fetch(t.Context(), c, nil); !strings.Contains(reasonOf(t, err), "no commit yet") {
				t.Errorf("empty: %v", err)
			}
			first := r.Commit(files)
			got := fetch(t, host, c)
			want := git.Revision{Branch: "main", Commit: first, CommittedAt: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)}
			if diff := cmp.Diff(want, got.Revision); diff != "" {
				t.Errorf("revision (-want +got):\n%s", diff)
			}
			if want := []string{archive.ManifestPath, "templates/welcome.hbs", "workflows/trial.flow"}; !slices.Equal(got.Tree.Paths(), want) || len(got.Diagnostics) != 0 {
				t.Errorf("%v with %v, want %v", got.Tree.Paths(), got.Diagnostics, want)
			}
			c.Revision = got.Revision
			proposeAndMerge(t, host, c, r, first)
			renameAndForce(t, host, c, r)
		})
	}
}

// fetch reads a repository that can be read.
func fetch(t *testing.T, host *local.Host, c git.Connection, open ...git.Proposal) git.Snapshot {
	t.Helper()
	got, err := host.Fetch(t.Context(), c, open)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// proposeAndMerge proposes changes twice, and checks the commit and the states.
func proposeAndMerge(t *testing.T, host *local.Host, c git.Connection, r *gittest.Repository, first string) {
	t.Helper()
	const branch = "mailhelm/templates_author-1"
	change := core.RepositoryChange{Title: "Save the template welcome", Message: "Why it changes.", Files: map[string][]byte{
		"mail/templates/welcome.hbs": []byte("<p>Hi</p>\n"), "mail/templates/new/a.hbs": []byte("new\n"), "mail/workflows/trial.flow": nil,
	}}
	for range 2 {
		if got, err := host.Propose(t.Context(), c, branch, change); err != nil || got != (core.PullRequest{Branch: branch}) {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	wanted := "Mailhelm <mailhelm@noreply.invalid> 2026-03-02T09:00:00Z Save the template welcome\n\nWhy it changes.\n" + first
	if got := r.InBare("log", "-1", "--format=%an <%ae> %cd %B%P", "--date=format:%Y-%m-%dT%H:%M:%SZ", branch); got != wanted {
		t.Errorf("the commit is\n%s\nwant\n%s", got, wanted)
	}
	if got := r.InBare("diff", "--name-status", first, branch); got != "A\tmail/templates/new/a.hbs\nM\tmail/templates/welcome.hbs\nD\tmail/workflows/trial.flow" {
		t.Errorf("the change is\n%s", got)
	}
	r.InBare("fsck", "--strict")
	if got := r.InBare("rev-parse", "main"); got != first {
		t.Errorf("main is %s, want %s", got, first)
	}
	if _, err := host.Propose(t.Context(), c, "mailhelm/none", core.RepositoryChange{Title: "None", Files: map[string][]byte{"main.go": []byte(files["main.go"])}}); !strings.Contains(reasonOf(t, err), "already") {
		t.Errorf("no change: %v", err)
	}
	open := []git.Proposal{
		{Branch: branch, Blobs: map[string]string{"mail/templates/welcome.hbs": git.BlobID(change.Files["mail/templates/welcome.hbs"]), "mail/workflows/trial.flow": ""}},
		{Branch: "mailhelm/gone", Blobs: map[string]string{"main.go": ""}},
	}
	if got := fetch(t, host, c, open...).States; !cmp.Equal(got, map[string]git.ProposalState{"mailhelm/gone": git.Closed}) {
		t.Errorf("before the merge: %v", got)
	}
	r.Git("fetch", "--quiet")
	r.Git("merge", "--quiet", "--no-ff", "--message", "Merge", "origin/"+branch)
	r.Git("push", "--quiet", "origin", "main")
	if _, err := host.Propose(t.Context(), c, "mailhelm/late", change); !errors.Is(err, git.ErrMoved) {
		t.Errorf("a proposal for an earlier commit: %v", err)
	}
	got := fetch(t, host, c, open...)
	if want := map[string]git.ProposalState{branch: git.Merged, "mailhelm/gone": git.Closed}; !cmp.Equal(got.States, want) {
		t.Errorf("after the merge: %v", got.States)
	}
	if string(got.Tree["templates/welcome.hbs"]) != "<p>Hi</p>\n" {
		t.Errorf("the template is %q", got.Tree["templates/welcome.hbs"])
	}
}

// renameAndForce pushes another history to another default branch.
func renameAndForce(t *testing.T, host *local.Host, c git.Connection, r *gittest.Repository) {
	t.Helper()
	r.Git("checkout", "--quiet", "--orphan", "trunk")
	other := r.Commit(map[string]string{"mail/templates/welcome.hbs": "other\n"})
	r.InBare("symbolic-ref", "HEAD", "refs/heads/trunk")
	if got := fetch(t, host, c); got.Revision.Branch != "trunk" || got.Revision.Commit != other || string(got.Tree["templates/welcome.hbs"]) != "other\n" {
		t.Errorf("another branch: %+v", got)
	}
	r.Git("commit", "--quiet", "--amend", "--message", "Another history")
	r.Git("push", "--quiet", "--force", "origin", "trunk")
	if got, want := fetch(t, host, c).Revision.Commit, r.Git("rev-parse", "HEAD"); got != want {
		t.Errorf("after a forced push: %s, want %s", got, want)
	}
	c.Secret = "wrong"
	if c.Kind == git.Remote {
		if _, err := host.Fetch(t.Context(), c, nil); !strings.Contains(reasonOf(t, err), "refuses the credentials") {
			t.Errorf("wrong secret: %v", err)
		}
	}
}

// TestRelativeFolder reads a repository below a folder that is named relative to the working folder.
func TestRelativeFolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	r := gittest.New(t, folder)
	commit := r.Commit(files)
	working, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cfg := config(folder, gittest.Server{})
	if cfg.Folder, err = filepath.Rel(working, folder); err != nil {
		t.Fatal(err)
	}
	got := fetch(t, local.New(cfg), git.Connection{Kind: git.Local, Location: r.Bare, PathPrefix: "mail"})
	if got.Revision.Commit != commit {
		t.Errorf("read %q, want %q", got.Revision.Commit, commit)
	}
}

// TestFolderRefuses checks that only whole repositories below the configured folder are read.
func TestFolderRefuses(t *testing.T) {
	t.Parallel()
	folder, outside := t.TempDir(), t.TempDir()
	r := gittest.New(t, folder)
	r.Commit(files)
	foreign := gittest.New(t, outside)
	foreign.Commit(files)
	r.InBare("worktree", "add", "--quiet", filepath.Join(folder, "linked"), "main")
	r.InBare("clone", "--quiet", "--bare", "--shared", r.Bare, filepath.Join(folder, "shared.git"))
	r.InBare("clone", "--quiet", "--bare", r.Bare, filepath.Join(folder, "detached.git"))
	r.InBare("clone", "--quiet", "--bare", r.Bare, filepath.Join(folder, "stolen.git"))
	if err := errors.Join(
		os.Symlink(foreign.Bare, filepath.Join(folder, "link.git")), os.Mkdir(filepath.Join(folder, "empty"), 0o700),
		os.WriteFile(filepath.Join(folder, "detached.git", "HEAD"), []byte(r.InBare("rev-parse", "main")+"\n"), 0o600),
		os.RemoveAll(filepath.Join(folder, "stolen.git", "objects")), os.Symlink(filepath.Join(foreign.Bare, "objects"), filepath.Join(folder, "stolen.git", "objects")),
	); err != nil {
		t.Fatal(err)
	}
	host := local.New(config(folder, gittest.Server{}))
	for location, want := range map[string]string{
		foreign.Bare: "does not exist below", "link.git": "does not exist below", folder: "does not exist below", "nowhere": "does not exist below", "../" + filepath.Base(outside): "does not exist below",
		"empty": "no Git repository", "linked": "no Git repository", "shared.git": "shares the objects", "detached.git": "names no branch", "stolen.git": "has no object",
	} {
		if !filepath.IsAbs(location) {
			location = filepath.Join(folder, location)
		}
		if _, err := host.Fetch(t.Context(), git.Connection{Kind: git.Local, Location: location}, nil); !strings.Contains(reasonOf(t, err), want) {
			t.Errorf("%s: %v", location, err)
		}
	}
	if _, err := host.Fetch(t.Context(), git.Connection{Kind: git.Local, Location: "definitions.git"}, nil); !strings.Contains(reasonOf(t, err), "not absolute") {
		t.Errorf("relative: %v", err)
	}
	if _, err := local.New(config("", gittest.Server{})).Fetch(t.Context(), git.Connection{Kind: git.Local, Location: r.Bare}, nil); !strings.Contains(reasonOf(t, err), "--git-folder") {
		t.Errorf("no folder: %v", err)
	}
	if got := fetch(t, host, git.Connection{Kind: git.Local, Location: r.Bare, PathPrefix: "mail"}); len(got.Tree) != 3 {
		t.Errorf("%v", got.Tree.Paths())
	}
	if got := fetch(t, host, git.Connection{Kind: git.Local, Location: r.Bare}); len(got.Tree) != 0 {
		t.Errorf("without the prefix: %v", got.Tree.Paths())
	}
	for prefix, want := range map[string]string{"letters": "no folder", "main.go": "a file", "mail/templates/welcome.hbs": "a file"} {
		if _, err := host.Fetch(t.Context(), git.Connection{Kind: git.Local, Location: r.Bare, PathPrefix: prefix}, nil); !strings.Contains(reasonOf(t, err), want) {
			t.Errorf("%s: %v", prefix, err)
		}
	}
}

// TestLimits checks the limits of a fetch, and that a large file that the manifest names is left out
// with its name.
func TestLimits(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	r := gittest.New(t, folder)
	large := strings.Repeat("a", archive.MaxFile+1)
	r.Write(map[string]string{"mail/templates/welcome.hbs": large})
	r.Write(files)
	r.Write(map[string]string{"mail/templates/welcome.hbs": large})
	r.Commit(nil)
	s := r.Serve(nil)
	c := git.Connection{Kind: git.Remote, Location: s.URL, PathPrefix: "mail"}
	got := fetch(t, local.New(config(folder, s)), c)
	if len(got.Diagnostics) != 1 || got.Diagnostics[0].Code != git.CodeFileTooLarge || got.Diagnostics[0].Path != "templates/welcome.hbs" || len(got.Tree) != 2 {
		t.Errorf("%v with %+v", got.Tree.Paths(), got.Diagnostics)
	}
	for name, limit := range map[string]struct {
		set  func(*local.Config)
		want string
	}{
		"bytes":  {func(c *local.Config) { c.MaxPack = 2000 }, "larger than"},
		"object": {func(c *local.Config) { c.MaxObject = archive.MaxFile }, "a file with more than 5 MiB"},
		"time":   {func(c *local.Config) { c.MaxTime = time.Nanosecond }, "within 1ns"},
	} {
		limited := config(folder, s)
		limit.set(&limited)
		if _, err := local.New(limited).Fetch(t.Context(), c, nil); !strings.Contains(reasonOf(t, err), limit.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(folder, "mailhelm-git-*")); err != nil || len(left) != 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

// TestRemoteRefuses checks that no other server and no other address is connected to.
func TestRemoteRefuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	r := gittest.New(t, folder)
	r.Commit(files)
	asked := make(chan string, 100)
	other := r.Serve(func(_ http.ResponseWriter, request *http.Request) bool { asked <- request.URL.Path; return false })
	s := r.Serve(func(w http.ResponseWriter, request *http.Request) bool {
		rest, found := strings.CutPrefix(request.URL.Path, "/away.git")
		if found {
			http.Redirect(w, request, other.URL+rest+"?"+request.URL.RawQuery, http.StatusMovedPermanently)
			return true
		}
		if rest, found = strings.CutPrefix(request.URL.Path, "/moved"); found {
			http.Redirect(w, request, "/definitions.git"+rest+"?"+request.URL.RawQuery, http.StatusMovedPermanently)
			return true
		}
		return false
	})
	at := func(path string) git.Connection {
		return git.Connection{Kind: git.Remote, Location: strings.TrimSuffix(s.URL, "/definitions.git") + path, PathPrefix: "mail", Secret: "secret"}
	}
	host := local.New(config(folder, s))
	if got := fetch(t, host, at("/moved")); len(got.Tree) != 3 {
		t.Errorf("a redirect on the same server: %v", got.Tree.Paths())
	}
	for path, want := range map[string]string{"/away.git": "redirects to another", "/nothing.git": "has no repository"} {
		if _, err := host.Fetch(t.Context(), at(path), nil); !strings.Contains(reasonOf(t, err), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if len(asked) != 0 {
		t.Errorf("the other server was asked for %s", <-asked)
	}
	for _, location := range []string{"http" + strings.TrimPrefix(s.URL, "https"), "https://ada:secret@localhost/a.git", "ssh://localhost/a.git", "file://" + r.Bare, r.Bare} {
		if _, err := host.Fetch(t.Context(), git.Connection{Kind: git.Remote, Location: location}, nil); !strings.Contains(reasonOf(t, err), "no https URL") {
			t.Errorf("%s: %v", location, err)
		}
	}
	guarded := config(folder, s)
	guarded.Guard = outbound.New(nil, 443)
	_, err := local.New(guarded).Fetch(context.WithoutCancel(t.Context()), at("/definitions.git"), nil)
	if !strings.Contains(reasonOf(t, err), "does not connect") {
		t.Errorf("loopback: %v", err)
	}
}

// TestUsualPort checks that an address with the port of https is one without a port: the connection is
// refused, and not taken for a redirect to another server.
func TestUsualPort(t *testing.T) {
	t.Parallel()
	c := git.Connection{Kind: git.Remote, Location: "https://127.0.0.1:443/a.git"}
	_, err := local.New(config(t.TempDir(), gittest.Server{})).Fetch(t.Context(), c, nil)
	if err == nil || strings.Contains(err.Error(), "redirects") {
		t.Error(err)
	}
}

// TestRemoveLeft removes the folder that a killed process left, and nothing else.
func TestRemoveLeft(t *testing.T) {
	t.Parallel()
	folder, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{"mailhelm-git-old": 2 * time.Hour, "mailhelm-git-new": time.Minute, "objects": 2 * time.Hour} {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Join(path, "objects"), 0o700), os.Chtimes(path, now, now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "mailhelm-git-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := local.New(local.Config{Scratch: folder}).RemoveLeft(now.Add(-time.Hour)); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if want := []string{"mailhelm-git-file", "mailhelm-git-new", "objects"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%v %v, want %v", left, err, want)
	}
	if err := local.New(local.Config{Scratch: filepath.Join(folder, "none")}).RemoveLeft(now); err != nil {
		t.Error(err)
	}
}
