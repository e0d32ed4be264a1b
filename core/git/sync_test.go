package git_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// now is the time of the tests.
var now = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// scripted is a Host and an Applier that do what a test says, and a queue that keeps jobs.
type scripted struct {
	read     git.Snapshot
	failure  error
	apply    func(tree archive.Tree) error
	applied  int
	proposed []core.RepositoryChange
	jobs     []jobs.Args
	// adopted has what the last Apply had to leave out, and absent what the next ones do not find.
	adopted map[definitions.Ref]bool
	absent  []definitions.Ref
}

func (s *scripted) Fetch(context.Context, git.Connection, []git.Proposal) (git.Snapshot, error) {
	return s.read, s.failure
}

func (s *scripted) Propose(_ context.Context, _ git.Connection, _ string, change core.RepositoryChange) (core.PullRequest, error) {
	s.proposed = append(s.proposed, change)
	return core.PullRequest{URL: "https://git.example.com/1"}, s.failure
}

func (s *scripted) Apply(_ context.Context, org core.Org, read git.Snapshot, adopted map[definitions.Ref]bool) (git.Report, error) {
	s.applied++
	s.adopted = adopted
	report := git.Report{Absent: s.absent, Diagnostics: []definitions.Diagnostic{{Code: "of " + org.Name + " at " + read.Revision.Commit}}}
	if s.apply == nil {
		return report, nil
	}
	return report, s.apply(read.Tree)
}

func (s *scripted) Enqueue(_ context.Context, args jobs.Args) error {
	s.jobs = append(s.jobs, args)
	return nil
}

func (s *scripted) EnqueueOnce(ctx context.Context, args jobs.Args) (bool, error) {
	return true, s.Enqueue(ctx, args)
}

// world is an organization with what a test says about its repository.
type world struct {
	*scripted
	db       *storage.DB
	store    git.Store
	settings git.Settings
	syncs    *git.Syncs
	org      string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db := storagetest.SQLite(t)
	key, err := signing.NewMasterKey(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	stored := db.Git(key)
	w := &world{scripted: &scripted{}, db: db, store: stored, org: core.NewID()}
	if err := db.Orgs().InsertOrg(t.Context(), core.Org{ID: w.org, Name: "Vineyard", Slug: "vineyard", Tier: "team", RetentionDays: 30}); err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return now }
	w.settings = git.Settings{Store: stored, Adoptions: stored, Queue: w, Clock: clock, Kinds: []git.Kind{git.Local, git.Remote}}
	w.syncs = git.NewSyncs(git.SyncConfig{
		Store: stored, Adoptions: stored, Hosts: map[git.Kind]git.Host{git.Local: w, git.Remote: w}, Applier: w, Org: db.Orgs().Org, Clock: clock, Log: slog.New(slog.DiscardHandler),
	})
	return w
}

// connect connects a repository in a folder.
func (w *world) connect(t *testing.T) git.Connection {
	t.Helper()
	c, err := w.settings.Connect(t.Context(), git.Connection{OrgID: w.org, Kind: git.Local, Location: "/srv/a.git", PathPrefix: "/mail/"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) sync(t *testing.T) (git.Connection, error) {
	t.Helper()
	failure := w.syncs.Sync(t.Context(), w.org)
	c, err := w.store.Connection(t.Context(), w.org)
	if err != nil {
		t.Fatal(err)
	}
	return c, failure
}

// isInvalid reports whether an error is about invalid settings.
func isInvalid(err error) bool {
	return err != nil && core.AsError(err).Code == core.CodeValidationFailed
}

// TestBranchThatNoDatabaseStores checks that a repository whose default branch has a name that is not UTF-8
// fails with a reason: PostgreSQL would refuse the result of the sync.
func TestBranchThatNoDatabaseStores(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"main\xff", "main\x00"} {
		w := newWorld(t)
		w.connect(t)
		w.read = git.Snapshot{Revision: git.Revision{Branch: name, Commit: "c1", CommittedAt: now}, Tree: archive.Tree{archive.ManifestPath: []byte("{}")}}
		if c, err := w.sync(t); err != nil || c.State != git.Failed || !strings.Contains(c.Failure, "Rename the branch") || strings.ContainsRune(c.Failure, 0) || w.applied != 0 {
			t.Errorf("%q: %v, %s %q, applied %d times", name, err, c.State, c.Failure, w.applied)
		}
	}
}

func TestSync(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.syncs.Sync(t.Context(), w.org); err != nil || w.applied != 0 {
		t.Errorf("without a connection: %v, applied %d times", err, w.applied)
	}
	c := w.connect(t)
	if diff := cmp.Diff([]jobs.Args{git.SyncArgs{OrgID: w.org}}, w.jobs); diff != "" || c.PathPrefix != "mail" {
		t.Errorf("prefix %q, jobs (-want +got):\n%s", c.PathPrefix, diff)
	}
	w.read = git.Snapshot{Revision: git.Revision{Branch: "main", Commit: "c1", CommittedAt: now}, Tree: archive.Tree{
		archive.ManifestPath: []byte(`{"templates": {"a": {"path": "a.hbs", "testdata": "data/"}}}`), "data/vip.json": nil, "data/read.me": nil, "a.hbs": nil,
	}, Diagnostics: []definitions.Diagnostic{{Code: "read"}}}
	// A request that arrives while the first sync applies is covered by a second round.
	w.apply = func(archive.Tree) error {
		if w.applied == 1 {
			return w.settings.RequestSync(t.Context(), w.org)
		}
		return nil
	}
	got, err := w.sync(t)
	want := c
	want.State, want.ReadAt, want.Revision, want.Manifest, want.TestData = git.Synced, now, w.read.Revision, w.read.Tree[archive.ManifestPath], []string{"data/vip.json"}
	want.Diagnostics = []definitions.Diagnostic{{Code: "read"}, {Code: "of Vineyard at c1"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || w.applied != 2 {
		t.Errorf("%v, applied %d times (-want +got):\n%s", err, w.applied, diff)
	}
	w.read.Revision = git.Revision{Branch: "trunk", Commit: "c2", CommittedAt: now}
	if got, err = w.sync(t); err != nil || got.Diagnostics[0].Code != git.CodeBranchRenamed || !strings.Contains(got.Diagnostics[0].Message, "trunk") {
		t.Errorf("a renamed branch: %v, %+v", err, got.Diagnostics)
	}
	w.failure = &git.Refusal{Reason: "The repository is larger than 256 MiB."}
	if got, err = w.sync(t); err != nil || got.State != git.Failed || got.Failure != "The repository is larger than 256 MiB." || got.Revision.Commit != "c2" {
		t.Errorf("a refusal: %v, %+v", err, got)
	}
	w.failure = errors.New("password hunter2 refused")
	if got, err = w.sync(t); !errors.Is(err, w.failure) || got.State != git.Failed || strings.Contains(got.Failure, "hunter2") {
		t.Errorf("a failure: %v, %+v", err, got)
	}
	w.failure = nil
	if got, err = w.sync(t); err != nil || got.State != git.Synced || got.Failure != "" {
		t.Errorf("afterwards: %v, %+v", err, got)
	}
	w.failure = &git.Later{Until: now.Add(time.Hour)}
	if later, err := w.sync(t); err != nil || !cmp.Equal(later, got) {
		t.Errorf("a server that asks to wait: %v, %+v, want %+v", err, later, got)
	}
}

// TestAdopted checks that syncs leave out adopted definitions until they are returned, or until the
// repository does not name them any more.
func TestAdopted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, vip := t.Context(), definitions.Ref{Kind: definitions.KindSegment, Key: "vip"}
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w.connect(t)
	fail(w.db.Segments().InsertSegment(ctx, w.org, segments.Segment{
		ID: core.NewID(), Key: "vip", Name: "VIPs", Source: "true", Status: segments.Active, Origin: segments.Git, CreatedAt: now, UpdatedAt: now,
	}))
	// expect syncs, and compares what the sync had to leave out and what is adopted afterwards.
	expect := func(when string, left, adopted map[definitions.Ref]bool) {
		t.Helper()
		_, err := w.sync(t)
		fail(err)
		all, err := w.settings.Adoptions.Adopted(ctx, w.org)
		fail(err)
		after := map[definitions.Ref]bool{}
		for _, a := range all {
			after[a.Ref] = true
		}
		if !maps.Equal(w.scripted.adopted, left) || !maps.Equal(after, adopted) {
			t.Errorf("%s: %v was left out, %v is adopted", when, w.scripted.adopted, after)
		}
	}
	none, one := map[definitions.Ref]bool{}, map[definitions.Ref]bool{vip: true}
	expect("before", none, none)
	w.apply = func(archive.Tree) error { return w.settings.Adopt(ctx, w.org, vip) }
	if _, err := w.sync(t); !core.IsConflict(err) {
		t.Errorf("adopted while a sync applies: %v", err)
	}
	w.apply = nil
	requested := len(w.jobs)
	fail(w.settings.Adopt(ctx, w.org, vip))
	expect("adopted", one, one)
	fail(w.settings.Return(ctx, w.org, vip))
	if err := w.settings.Return(ctx, w.org, vip); !core.IsNotFound(err) || len(w.jobs) != requested+2 {
		t.Errorf("returned twice: %v, %d jobs", err, len(w.jobs)-requested)
	}
	expect("returned", none, none)
	// The sync has taken the definition; here the test does.
	fail(w.db.Bundles().SetOrigins(ctx, w.org, vip.Kind, []string{vip.Key}, bundles.Owner{Origin: core.GitOrigin}))
	fail(w.settings.Adopt(ctx, w.org, vip))
	w.absent = []definitions.Ref{vip, {Kind: definitions.KindWorkflow, Key: "returned in the meantime"}}
	w.apply = func(archive.Tree) error { return errors.New("not everything is applied") }
	if _, err := w.sync(t); err == nil {
		t.Error("the sync has not failed")
	}
	w.apply = nil
	expect("no longer named", one, none)
	w.absent = nil
	expect("named again", none, none)
}

// TestGitHubNeedsInstallation checks that a form cannot connect a repository on GitHub by its name.
func TestGitHubNeedsInstallation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settings.Kinds = []git.Kind{git.GitHub}
	c := git.Connection{OrgID: w.org, Kind: git.GitHub, Location: "acme/definitions"}
	if _, err := w.settings.Connect(t.Context(), c); !isInvalid(err) {
		t.Errorf("without an installation: %v", err)
	}
	c.Installation = 9
	if _, err := w.settings.Connect(t.Context(), c); err != nil {
		t.Error(err)
	}
}

// TestOrgsOf checks which organizations a webhook of GitHub concerns.
func TestOrgsOf(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		key, err := signing.NewMasterKey(bytes.Repeat([]byte{1}, 32))
		if err != nil {
			t.Fatal(err)
		}
		store := db.Git(key)
		for org, c := range map[string]git.Connection{
			"one": {Kind: git.GitHub, Location: "acme/definitions", Installation: 9}, "two": {Kind: git.GitHub, Location: "Acme/Shop", Installation: 9},
			"three": {Kind: git.GitHub, Location: "acme/definitions", Installation: 8}, "four": {Kind: git.Remote, Location: "acme/definitions"},
		} {
			c.OrgID, c.ID, c.State, c.CreatedAt = org, core.NewID(), git.Waiting, now
			if err := db.Orgs().InsertOrg(t.Context(), core.Org{ID: org, Name: org, Slug: org, Tier: "team", RetentionDays: 30}); err != nil {
				t.Fatal(err)
			}
			if err := store.InsertConnection(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		for location, want := range map[string][]string{"acme/definitions": {"one"}, "acme/shop": {"two"}, "acme/other": nil, "": {"one", "two"}} {
			if got, err := store.OrgsOf(t.Context(), 9, location); err != nil || !slices.Equal(got, want) {
				t.Errorf("%q: %v %v", location, got, err)
			}
		}
	})
}

func TestProposals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	host := git.Proposals{Settings: w.settings, Hosts: map[git.Kind]git.Host{git.Local: w}}
	change := core.RepositoryChange{Title: "Save", Definitions: []core.RepositoryDefinition{{Kind: "workflow", Key: "trial", Source: "flow"}}}
	open := func() (core.PullRequest, error) {
		return host.OpenPullRequest(t.Context(), w.org, "mailhelm/workflows_author-1", change)
	}
	refused := func(what, want string) {
		t.Helper()
		if _, err := open(); !core.IsConflict(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("not connected", "no repository")
	w.connect(t)
	refused("not synced", "not read yet")
	w.read = git.Snapshot{Revision: git.Revision{Branch: "main", Commit: "c1", CommittedAt: now}, Tree: archive.Tree{archive.ManifestPath: []byte("{}")}}
	if _, err := w.sync(t); err != nil {
		t.Fatal(err)
	}
	w.failure = &git.Refusal{Reason: "The server did not take the branch."}
	refused("refused", "did not take")
	w.failure = git.ErrMoved
	requested := len(w.jobs)
	if refused("moved", "commits that are not applied"); len(w.jobs) != requested+1 {
		t.Error("no sync was requested")
	}
	w.failure, w.proposed = nil, nil
	got, err := open()
	if want := (core.PullRequest{URL: "https://git.example.com/1", Branch: "mailhelm/workflows_author-1"}); got != want || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if len(w.proposed) != 1 || w.proposed[0].Definitions != nil || string(w.proposed[0].Files["mail/workflows/trial.flow"]) != "flow" || w.proposed[0].Files["mail/mailhelm.json"] == nil {
		t.Errorf("proposed %+v", w.proposed)
	}
	promoted := core.RepositoryDefinition{Kind: "segment", Key: "vip", Source: "true", Name: "VIPs"}
	if got, err := host.Promote(t.Context(), w.org, promoted); err != nil || !strings.HasPrefix(got.Branch, "mailhelm/promote-") || string(w.proposed[1].Files["mail/audience/vip.predicate"]) != "true" {
		t.Errorf("promoted %+v, %v, %+v", got, err, w.proposed)
	}
	w.read.States = map[string]git.ProposalState{"mailhelm/workflows_author-1": git.Merged}
	if _, err := w.sync(t); err != nil {
		t.Fatal(err)
	}
	stored, err := w.store.Proposals(t.Context(), w.org, 10)
	if err != nil || len(stored) != 2 || stored[0].Operation != "promote" || stored[1].State != git.Merged || stored[1].Operation != "workflows_author" || stored[1].Blobs["mail/workflows/trial.flow"] != git.BlobID([]byte("flow")) {
		t.Errorf("%+v, %v", stored, err)
	}
}

func TestConnectRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for location, kind := range map[string]git.Kind{
		"": git.Local, "a.git": git.Local, "/srv/../etc": git.Local, "/srv/\x00": git.Local, "owner/name": git.GitHub,
		"http://git.example.com/a.git": git.Remote, "https://git.example.com": git.Remote, "https://git.example.com/": git.Remote, "ssh://git.example.com/a.git": git.Remote,
		"https://ada:secret@git.example.com/a.git": git.Remote, "https://git.example.com/a.git?x=y": git.Remote, "git@git.example.com:a.git": git.Remote,
	} {
		if _, err := w.settings.Connect(t.Context(), git.Connection{OrgID: w.org, Kind: kind, Location: location}); !isInvalid(err) {
			t.Errorf("%q: %v", location, err)
		}
	}
	for name, c := range map[string]git.Connection{
		"prefix": {PathPrefix: "../a"}, "user only": {Username: "ada"}, "colon": {Username: "a:b", Secret: "s"}, "line": {Secret: "a\nb"}, "long": {Secret: strings.Repeat("x", 5000)},
	} {
		c.OrgID, c.Kind, c.Location = w.org, git.Remote, "https://git.example.com/a.git"
		if _, err := w.settings.Connect(t.Context(), c); !isInvalid(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	first := w.connect(t)
	if _, err := w.settings.Connect(t.Context(), git.Connection{OrgID: w.org, Kind: git.Local, Location: "/srv/b.git"}); !core.IsConflict(err) {
		t.Errorf("a second: %v", err)
	}
	if err := w.settings.Disconnect(t.Context(), w.org, first.ID); err != nil {
		t.Error(err)
	}
	if err := w.settings.Disconnect(t.Context(), w.org, first.ID); !core.IsNotFound(err) {
		t.Errorf("twice: %v", err)
	}
}
