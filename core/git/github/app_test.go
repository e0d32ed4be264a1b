package github_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/git/github"
	"github.com/mailhelm/mailhelm/core/git/github/githubtest"
)

// world is an app at a stand-in of GitHub, and a connection with its repository.
type world struct {
	*githubtest.Server
	app  *github.App
	conn git.Connection

	mu  sync.Mutex
	now time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)}
	w.Server = githubtest.New(t, w.clock)
	var err error
	w.app, err = github.New(github.Config{ID: githubtest.AppID, Key: githubtest.Key(), ClientSecret: githubtest.ClientSecret, URL: w.URL, Clock: w.clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.app.Close)
	w.conn = git.Connection{OrgID: core.NewID(), Kind: git.GitHub, Location: githubtest.Name, Installation: githubtest.Installation}
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// manifest names two files.
const manifest = `{"templates": {"welcome": {"path": "templates/welcome.hbs"}}, "segments": {"vip": {"path": "audience/vip.predicate"}}}`

// files is a repository with definitions below mail/.
func files() map[string]string {
	return map[string]string{
		"README.md": "# Acme", "mail/mailhelm.json": manifest, "mail/templates/welcome.hbs": "<p>Welcome</p>", "mail/audience/vip.predicate": "symlink:../other",
		"mail/unnamed.txt": "not read", "vendor": "submodule:abc",
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.conn.PathPrefix = "mail"
	commit := w.Commit(files())
	got, err := w.app.Fetch(t.Context(), w.conn, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := git.Revision{Branch: "main", Commit: commit, CommittedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	if diff := cmp.Diff(want, got.Revision); diff != "" {
		t.Errorf("revision (-want +got):\n%s", diff)
	}
	if paths := got.Tree.Paths(); !slices.Equal(paths, []string{"mailhelm.json", "templates/welcome.hbs"}) || string(got.Tree["templates/welcome.hbs"]) != "<p>Welcome</p>" {
		t.Errorf("%v %s", paths, got.Tree["templates/welcome.hbs"])
	}
	if want := w.URL + "/acme/definitions/blob/" + commit + "/mail"; got.FilesURL != want {
		t.Errorf("files at %s, want %s", got.FilesURL, want)
	}
	if len(got.Diagnostics) != 1 || got.Diagnostics[0].Code != git.CodeSymlink || got.Diagnostics[0].Path != "audience/vip.predicate" {
		t.Errorf("%+v", got.Diagnostics)
	}
	if calls := w.Calls(); !slices.Equal(calls, []string{"token", "repository", "branch", "tree", "tree", "blob", "blob"}) {
		t.Errorf("%v", calls)
	}
	// Another read takes the token and the files that are known, also on a renamed branch.
	w.SetDefaultBranch("release/1")
	if got, err = w.app.Fetch(t.Context(), w.conn, nil); err != nil || got.Revision.Branch != "release/1" || len(got.Tree) != 2 {
		t.Errorf("%+v %v", got, err)
	}
	if calls := w.Calls(); !slices.Equal(calls, []string{"repository", "branch", "tree", "tree"}) {
		t.Errorf("%v", calls)
	}
	// A token is replaced before its end, and when GitHub refuses it.
	w.advance(55 * time.Minute)
	for range 2 {
		if _, err = w.app.Fetch(t.Context(), w.conn, nil); err != nil {
			t.Error(err)
		}
		if calls := w.Calls(); !slices.Contains(calls, "token") {
			t.Errorf("%v", calls)
		}
		w.EndTokens()
	}
}

// TestRefusals checks what is refused with a reason for people, which names what is wrong.
func TestRefusals(t *testing.T) {
	t.Parallel()
	status := func(shape string, code int, header http.Header) func(w *world) {
		return func(w *world) {
			w.Refuse(func(s string, rw http.ResponseWriter, _ *http.Request) bool {
				if s != shape {
					return false
				}
				for name, values := range header {
					rw.Header()[name] = values
				}
				rw.WriteHeader(code)
				_, _ = rw.Write([]byte(`{"message": "ghs_secret_1 is refused"}`))
				return true
			})
		}
	}
	for name, c := range map[string]struct {
		change func(w *world)
		want   string
	}{
		"empty repository":  {func(w *world) { w.Commit(nil); w.SetDefaultBranch("gone"); w.Decide("gone", false) }, `no commit on its default branch "gone"`},
		"no such folder":    {func(w *world) { w.conn.PathPrefix = "mail/deeper" }, `no folder "mail/deeper"`},
		"link as folder":    {func(w *world) { w.conn.PathPrefix = "mail/audience/vip.predicate/x" }, `"mail/audience/vip.predicate" is not a folder but a symbolic link`},
		"submodule":         {func(w *world) { w.conn.PathPrefix = "vendor" }, `"vendor" is not a folder but a submodule`},
		"truncated":         {func(w *world) { w.Truncate(true) }, "truncated"},
		"other repository":  {func(w *world) { w.conn.Location = "acme/other" }, `may not use the repository "acme/other"`},
		"no name":           {func(w *world) { w.conn.Location = "acme/../../user" }, `"acme/../../user" is not the name`},
		"query in name":     {func(w *world) { w.conn.Location = "acme/x?y" }, "is not the name"},
		"uninstalled":       {func(w *world) { w.conn.Installation = 98 }, "not installed"},
		"no installation":   {func(w *world) { w.conn.Installation = 0 }, "is not the name"},
		"suspended":         {status("token", http.StatusForbidden, nil), "suspended"},
		"app refused":       {status("token", http.StatusUnauthorized, nil), "Ask the operator"},
		"renamed":           {status("repository", http.StatusMovedPermanently, http.Header{"Location": {"https://api.github.com/repositories/1"}}), "another name now"},
		"not found":         {status("repository", http.StatusNotFound, nil), "does not exist"},
		"not permitted":     {status("tree", http.StatusForbidden, nil), "Check the permissions"},
		"refused each time": {status("branch", http.StatusUnauthorized, nil), "GitHub refuses this"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Commit(files())
			c.change(w)
			_, err := w.app.Fetch(t.Context(), w.conn, nil)
			refusal, ok := errors.AsType[*git.Refusal](err)
			if !ok || !strings.Contains(refusal.Reason, c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestPassingFailures checks failures that are no refusals: they may pass by themselves.
func TestPassingFailures(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"server error":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"no JSON":        func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`ghs_secret_1`)) },
		"other form":     func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"commit": {"sha": "../x"}}`)) },
		"cut connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Commit(files())
			w.Refuse(func(shape string, rw http.ResponseWriter, r *http.Request) bool {
				if shape == "branch" {
					answer(rw, r)
				}
				return shape == "branch"
			})
			_, err := w.app.Fetch(t.Context(), w.conn, nil)
			if _, refused := errors.AsType[*git.Refusal](err); err == nil || refused || strings.Contains(err.Error(), "ghs_") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestRateLimits checks that an answer about too many requests stops all requests of the installation
// until the time that it names.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		header http.Header
		body   string
		wait   time.Duration
	}{
		"retry after":      {http.StatusForbidden, http.Header{"Retry-After": {"90"}}, "{}", 90 * time.Second},
		"too many":         {http.StatusTooManyRequests, nil, "{}", time.Minute},
		"reset":            {http.StatusForbidden, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1772625900"}}, "{}", 5*time.Minute + time.Second},
		"past reset":       {http.StatusTooManyRequests, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1"}}, "{}", time.Second},
		"secondary":        {http.StatusForbidden, nil, `{"message": "You have exceeded a secondary rate limit."}`, time.Minute},
		"a very long time": {http.StatusForbidden, http.Header{"Retry-After": {"99999999999"}}, "{}", time.Hour},
		"negative":         {http.StatusForbidden, http.Header{"Retry-After": {"-5"}}, "{}", time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Commit(files())
			limited := true
			w.Refuse(func(shape string, rw http.ResponseWriter, _ *http.Request) bool {
				if shape != "tree" || !limited {
					return false
				}
				limited = false
				for name, values := range c.header {
					rw.Header()[name] = values
				}
				rw.WriteHeader(c.status)
				_, _ = rw.Write([]byte(c.body))
				return true
			})
			until := w.clock().Add(c.wait)
			for range 2 {
				_, err := w.app.Fetch(t.Context(), w.conn, nil)
				if e, ok := errors.AsType[*git.Later](err); !ok || !e.Until.Equal(until) || !strings.Contains(err.Error(), "wait until") {
					t.Fatalf("%v, want until %v", err, until)
				}
			}
			if calls := w.Calls(); !slices.Equal(calls, []string{"token", "repository", "branch", "tree"}) {
				t.Errorf("%v", calls)
			}
			w.advance(c.wait)
			if _, err := w.app.Fetch(t.Context(), w.conn, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

const branch = "mailhelm/templates_author-0123456789abcdef"

func change() core.RepositoryChange {
	return core.RepositoryChange{Title: "Change welcome", Message: "By a person.", Files: map[string][]byte{
		"mail/templates/welcome.hbs": []byte("<p>Hello</p>"), "mail/templates/new.hbs": {}, "README.md": nil, "absent.txt": nil,
	}}
}

func TestPropose(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Commit(files())
	if _, err := w.app.Propose(t.Context(), w.conn, branch, change()); !errors.Is(err, git.ErrMoved) {
		t.Errorf("before the newest commit was read: %v", err)
	}
	w.conn.Revision.Commit = w.Commit(files())
	want := core.PullRequest{URL: w.URL + "/acme/definitions/pull/1", Branch: branch}
	for range 2 { // the second call changes nothing
		if got, err := w.app.Propose(t.Context(), w.conn, branch, change()); err != nil || got != want {
			t.Fatalf("%+v %v", got, err)
		}
	}
	if pulls := w.Pulls(); len(pulls) != 1 || pulls[0] != (githubtest.Pull{Number: 1, Head: branch, Base: "main", Title: "Change welcome", State: "open"}) {
		t.Errorf("%+v", pulls)
	}
	for path, content := range map[string]string{"mail/templates/welcome.hbs": "<p>Hello</p>", "mail/templates/new.hbs": "", "mail/unnamed.txt": "not read"} {
		if got, ok := w.File(branch, path); got != content || !ok {
			t.Errorf("%s: %q %t", path, got, ok)
		}
	}
	if _, ok := w.File(branch, "README.md"); ok {
		t.Error("the removed file is there")
	}
	if got, _ := w.File("main", "mail/templates/welcome.hbs"); got != "<p>Welcome</p>" {
		t.Errorf("the default branch has %q", got)
	}
	open := []git.Proposal{{Branch: branch}, {Branch: "mailhelm/never"}}
	for i, state := range []git.ProposalState{"", git.Closed, git.Merged} {
		if i > 0 {
			w.Decide(branch, state == git.Merged)
		}
		got, err := w.app.Fetch(t.Context(), w.conn, open)
		if err != nil || got.States[branch] != state || got.States["mailhelm/never"] != git.Closed {
			t.Errorf("%v %v, want %q", got.States, err, state)
		}
	}
	// The branch is gone, so the same call makes another.
	want.URL = w.URL + "/acme/definitions/pull/2"
	if got, err := w.app.Propose(t.Context(), w.conn, branch, change()); err != nil || got != want {
		t.Errorf("%+v %v", got, err)
	}
}

// TestInterruptedProposal interrupts a proposal at each request that changes the repository. The next
// attempt opens the pull request.
func TestInterruptedProposal(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"new blob", "new tree", "new commit", "new ref", "new pull"} {
		w := newWorld(t)
		w.conn.Revision.Commit = w.Commit(files())
		w.Refuse(func(shape string, rw http.ResponseWriter, _ *http.Request) bool {
			if shape == at {
				rw.WriteHeader(http.StatusBadGateway)
			}
			return shape == at
		})
		if _, err := w.app.Propose(t.Context(), w.conn, branch, change()); err == nil {
			t.Errorf("%s: no error", at)
		}
		w.Refuse(nil)
		if got, err := w.app.Propose(t.Context(), w.conn, branch, change()); err != nil || !strings.HasSuffix(got.URL, "/pull/1") || len(w.Pulls()) != 1 {
			t.Errorf("%s: %+v %v", at, got, err)
		}
	}
}

// TestRefusedProposals checks changes that are not proposed.
func TestRefusedProposals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.conn.Revision.Commit = w.Commit(files())
	for name, c := range map[string]struct{ branch, path, content, want string }{
		"default branch": {"main", "a.txt", "x", "never written"},
		"bad branch":     {"mailhelm/..", "a.txt", "x", "not the name of a branch"},
		"unchanged":      {branch, "README.md", "# Acme", "nothing to propose"},
		"below a link":   {branch, "mail/audience/vip.predicate/x", "x", "is a symbolic link"},
		"in a submodule": {branch, "vendor/x", "x", "is a submodule"},
		"a folder":       {branch, "mail/templates", "x", "is no file"},
		"bad path":       {branch, "../x", "x", "The file"},
	} {
		_, err := w.app.Propose(t.Context(), w.conn, c.branch, core.RepositoryChange{Title: "T", Files: map[string][]byte{c.path: []byte(c.content)}})
		if refusal, ok := errors.AsType[*git.Refusal](err); !ok || !strings.Contains(refusal.Reason, c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if len(w.Pulls()) != 0 {
		t.Errorf("%v", w.Pulls())
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"": true, github.PublicURL: true, "https://github.example/": true, "http://127.0.0.1:80": true, "http://localhost": true, "http://[::1]:8080": true,
		"http://github.com": false, "http://10.0.0.1": false, "ftp://github.com": false, "https://": false, "github.com": false, "https://u:p@github.com": false, "https://github.com?x": false,
	} {
		_, err := github.New(github.Config{ID: 1, Key: githubtest.Key(), URL: address, Clock: time.Now})
		if (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := github.New(github.Config{Key: githubtest.Key()}); err == nil {
		t.Error("no id")
	}
	if _, err := github.New(github.Config{ID: 1}); err == nil {
		t.Error("no key")
	}
}

func TestParseKey(t *testing.T) {
	t.Parallel()
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8 := func(key any) []byte {
		content, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: content})
	}
	pkcs1 := func(key *rsa.PrivateKey) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	}
	for name, c := range map[string]struct {
		text []byte
		ok   bool
	}{
		"PKCS #1": {pkcs1(githubtest.Key()), true}, "PKCS #8": {pkcs8(githubtest.Key()), true}, "short": {pkcs1(short), false}, "curve": {pkcs8(curve), false},
		"empty": {nil, false}, "no PEM": {[]byte("MIIEpAIBAAKCAQEA"), false}, "damaged": {pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: []byte("secret")}), false},
	} {
		key, err := github.ParseKey(c.text)
		if (err == nil) != c.ok || c.ok && !key.Equal(githubtest.Key()) || err != nil && strings.Contains(err.Error(), "MIIE") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
