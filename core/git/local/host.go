package local

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/outbound"
)

// The usual limits of a fetch.
const (
	MaxPack   = 256 << 20
	MaxObject = 100 << 20
	MaxTime   = 2 * time.Minute
)

// The limits of objects that are read whole, in bytes.
const (
	maxCommit = 1 << 20
	maxTree   = 16 << 20
)

// Config configures a Host. Clock is required, and Guard for repositories on other servers.
type Config struct {
	// Folder is the folder below which repositories may be, "" if none may.
	Folder string
	// Scratch is the folder for temporary files, "" for that of the operating system.
	Scratch string
	// Guard decides to which addresses and ports connections are made.
	Guard outbound.Guard
	// RootCAs are the trusted certificate authorities; nil means those of the operating system.
	RootCAs *x509.CertPool
	// MaxPack is the maximum number of bytes of a fetch, MaxObject that of a file or another object
	// in it, and MaxTime the maximum duration. Zero means the usual limit.
	MaxPack, MaxObject int64
	MaxTime            time.Duration
	Clock              core.Clock
	// Log gets what cannot be returned.
	Log *slog.Logger
}

// Host is a [git.Host] for the kinds git.Local and git.Remote.
type Host struct {
	cfg       Config
	transport http.RoundTripper
}

var _ git.Host = (*Host)(nil)

// New returns a Host.
func New(cfg Config) *Host {
	if cfg.MaxPack == 0 {
		cfg.MaxPack = MaxPack
	}
	if cfg.MaxObject == 0 {
		cfg.MaxObject = MaxObject
	}
	if cfg.MaxTime == 0 {
		cfg.MaxTime = MaxTime
	}
	dialer := net.Dialer{Timeout: cfg.MaxTime, KeepAlive: -1, Control: cfg.Guard.Control}
	return &Host{cfg, newTransport(cfg, dialer.DialContext)}
}

// RemoveLeft removes temporary folders that were made before a time, by a process that was killed. A
// folder in use is not older than Config.MaxTime.
func (h *Host) RemoveLeft(before time.Time) error {
	folder := cmp.Or(h.cfg.Scratch, os.TempDir())
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var failures []error
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			failures = append(failures, os.RemoveAll(filepath.Join(folder, e.Name())))
		}
	}
	return errors.Join(failures...)
}

// repository is an open repository.
type repository struct {
	objects storer.EncodedObjectStorer
	// branch is the name of the default branch, and head its newest commit.
	branch string
	head   hash
	// branches has the newest commit of each branch by its name.
	branches map[string]hash
	// whole is true if the history is there, not only the newest commit.
	whole bool
	// push adds objects and a branch with the commit.
	push  func(ctx context.Context, branch string, commit hash, added *newObjects) error
	close func()
}

// Fetch reads the newest commit; see [git.Host].
func (h *Host) Fetch(ctx context.Context, c git.Connection, open []git.Proposal) (git.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, h.cfg.MaxTime)
	defer cancel()
	r, err := h.open(ctx, c)
	if err != nil {
		return git.Snapshot{}, h.explain(ctx, err)
	}
	defer r.close()
	snapshot, err := r.snapshot(ctx, c.PathPrefix, open)
	if err != nil {
		return git.Snapshot{}, h.explain(ctx, err)
	}
	if page := pageOnGitHub(c); page != "" {
		snapshot.FilesURL = git.FilesOnGitHub(page, snapshot.Revision.Commit, c.PathPrefix)
	}
	return snapshot, nil
}

// ownerAndName is the path of a repository on GitHub.
var ownerAndName = regexp.MustCompile(`^/([A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+?)(?:\.git)?/?$`)

// pageOnGitHub returns the address of the page of a repository on github.com, "" for others: how their
// servers show files is not known.
func pageOnGitHub(c git.Connection) string {
	if c.Kind != git.Remote {
		return ""
	}
	u, err := url.Parse(c.Location)
	if err != nil || !strings.EqualFold(u.Hostname(), "github.com") || u.Port() != "" && u.Port() != "443" {
		return ""
	}
	if found := ownerAndName.FindStringSubmatch(u.EscapedPath()); found != nil && path.Clean(found[1]) == found[1] {
		return "https://github.com/" + found[1]
	}
	return ""
}

// Propose commits a change on a new branch; see [git.Host].
func (h *Host) Propose(ctx context.Context, c git.Connection, branch string, change core.RepositoryChange) (core.PullRequest, error) {
	ctx, cancel := context.WithTimeout(ctx, h.cfg.MaxTime)
	defer cancel()
	r, err := h.open(ctx, c)
	if err != nil {
		return core.PullRequest{}, h.explain(ctx, err)
	}
	defer r.close()
	if err := h.propose(ctx, r, c.Revision.Commit, branch, change); err != nil {
		return core.PullRequest{}, h.explain(ctx, err)
	}
	return core.PullRequest{Branch: branch}, nil
}

func (h *Host) propose(ctx context.Context, r *repository, base, branch string, change core.RepositoryChange) error {
	if _, exists := r.branches[branch]; exists {
		return nil
	}
	if base != r.head.String() {
		return git.ErrMoved
	}
	commit, added, err := r.commit(change, h.cfg.Clock())
	if err != nil {
		return err
	}
	return r.push(ctx, branch, commit, added)
}

// open opens the repository of a connection.
func (h *Host) open(ctx context.Context, c git.Connection) (*repository, error) {
	switch c.Kind {
	case git.Local:
		return h.openFolder(c.Location)
	case git.Remote:
		return h.download(ctx, c)
	default:
		return nil, fmt.Errorf("git/local: no repository of the kind %q", c.Kind)
	}
}

// explain returns a Refusal for an exceeded time, and other errors as they are.
func (h *Host) explain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return git.Refuse("The repository was not read within %s. Make it smaller, or connect a repository with the definitions only.", h.cfg.MaxTime)
	}
	return err
}
