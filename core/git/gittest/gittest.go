// Package gittest makes Git repositories for tests, with the program git of the operating system, and
// serves them over HTTPS with the server that comes with it.
package gittest

import (
	"crypto/x509"
	"net/http"
	"net/http/cgi" //nolint:gosec // the fault was in versions of Go before 1.6.3
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repository is a bare repository with a clone to work in.
type Repository struct {
	// Bare is the folder of the bare repository, Clone that of the clone.
	Bare, Clone string
	T           testing.TB
	home        string
}

// New makes a repository below a folder, whose default branch main has no commit.
func New(t testing.TB, below string) *Repository {
	t.Helper()
	r := &Repository{Bare: filepath.Join(below, "definitions.git"), Clone: filepath.Join(t.TempDir(), "clone"), T: t, home: t.TempDir()}
	r.run(below, "init", "--quiet", "--bare", "--initial-branch=main", r.Bare)
	r.run(r.Bare, "config", "http.receivepack", "true")
	r.run(below, "clone", "--quiet", r.Bare, r.Clone)
	return r
}

// Git runs a git command in the clone and returns its output without line ends around it.
func (r *Repository) Git(arguments ...string) string {
	r.T.Helper()
	return r.run(r.Clone, arguments...)
}

// InBare runs a git command in the bare repository.
func (r *Repository) InBare(arguments ...string) string {
	r.T.Helper()
	return r.run(r.Bare, arguments...)
}

func (r *Repository) run(folder string, arguments ...string) string {
	r.T.Helper()
	command := exec.CommandContext(r.T.Context(), "git", arguments...) //nolint:gosec // the arguments are those of tests
	command.Dir = folder
	command.Env = r.environment()
	out, err := command.CombinedOutput()
	if err != nil {
		r.T.Fatalf("git %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// environment has no settings of the user who runs the tests.
func (r *Repository) environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com",
		"GIT_AUTHOR_DATE=2026-03-01T10:00:00Z", "GIT_COMMITTER_DATE=2026-03-01T10:00:00Z",
	}
}

// Write writes files into the clone; "" removes one.
func (r *Repository) Write(files map[string]string) {
	r.T.Helper()
	for name, content := range files {
		path := filepath.Join(r.Clone, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o750)
		if err == nil && content == "" {
			err = os.Remove(path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			r.T.Fatal(err)
		}
	}
}

// Commit writes files, commits all changes of the clone and pushes them. It returns the id of the
// commit.
func (r *Repository) Commit(files map[string]string) string {
	r.T.Helper()
	r.Write(files)
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--message", "Change definitions")
	r.Git("push", "--quiet", "--force", "origin", "HEAD")
	return r.Git("rev-parse", "HEAD")
}

// Server serves a repository over HTTPS until the test ends.
type Server struct {
	// URL is the address of the repository, and Roots has the certificate of the server.
	URL   string
	Roots *x509.CertPool
}

// Serve serves the repository. before is called for each request; if it returns true, it has
// answered. nil means that all requests are answered by git.
func (r *Repository) Serve(before func(w http.ResponseWriter, request *http.Request) bool) Server {
	r.T.Helper()
	programs, err := exec.CommandContext(r.T.Context(), "git", "--exec-path").Output()
	if err != nil {
		r.T.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(programs)), "git-http-backend"), Root: "/",
		Env: append(r.environment(), "GIT_PROJECT_ROOT="+filepath.Dir(r.Bare), "GIT_HTTP_EXPORT_ALL=1"),
	}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if before == nil || !before(w, request) {
			backend.ServeHTTP(w, request)
		}
	}))
	r.T.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return Server{URL: s.URL + "/" + filepath.Base(r.Bare), Roots: roots}
}
