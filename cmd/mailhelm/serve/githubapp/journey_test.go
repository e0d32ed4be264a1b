package githubapp_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/githubapp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/git/github/githubtest"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// journey is an organization on a database, whose repository is at a stand-in of GitHub. It is the
// queue, and keeps what was applied.
type journey struct {
	git.Settings
	server    *githubtest.Server
	hook      http.Handler
	org       string
	proposals git.Proposals
	store     interface {
		git.Store
		git.Adoptions
	}
	syncs   *git.Syncs
	pending []string
	applied []string
	// delivered is the number of deliveries of webhooks.
	delivered int
}

func newJourney(t *testing.T, db *storage.DB) *journey {
	t.Helper()
	j := &journey{server: githubtest.New(t, time.Now), org: core.NewID()}
	cfg := configured()
	cfg.GitHub.URL = j.server.URL
	p, err := githubapp.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	key, err := signing.NewMasterKey(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Orgs().InsertOrg(t.Context(), core.Org{ID: j.org, Name: "Acme", Slug: "acme", Tier: "team", RetentionDays: 30}); err != nil {
		t.Fatal(err)
	}
	hosts := map[git.Kind]git.Host{git.GitHub: p.App}
	j.store = db.Git(key)
	j.Settings = git.Settings{Store: j.store, Adoptions: j.store, Queue: j, Clock: cfg.Clock, Kinds: []git.Kind{git.GitHub}}
	j.proposals = git.Proposals{Settings: j.Settings, Hosts: hosts}
	j.syncs = git.NewSyncs(git.SyncConfig{Store: j.store, Adoptions: j.store, Hosts: hosts, Applier: j, Org: db.Orgs().Org, Clock: cfg.Clock, Log: slog.New(slog.DiscardHandler)})
	j.hook = p.Route(j, http.NotFoundHandler())
	return j
}

// deliver sends a webhook, which must request one sync. more has members of its body.
func (j *journey) deliver(t *testing.T, event, more string) {
	t.Helper()
	j.delivered++
	body := fmt.Sprintf(`{%s "repository": {"full_name": "Acme/Definitions", "default_branch": "main"}, "installation": {"id": %d}}`, more, githubtest.Installation)
	if status := post(j.hook, event, fmt.Sprint(j.delivered), body); status != http.StatusAccepted || len(j.pending) != 1 {
		t.Fatalf("%s: %d, jobs %v", event, status, j.pending)
	}
}

// commit commits a template.
func (j *journey) commit(welcome string) {
	j.server.Commit(map[string]string{"mailhelm.json": `{"templates": {"welcome": {"path": "welcome.hbs"}}}`, "welcome.hbs": welcome})
}

// expect does the jobs, and checks the connection and what was applied.
func (j *journey) expect(t *testing.T, when string, state git.State, applied, failure string) {
	t.Helper()
	if c, got := j.work(t); c.State != state || got != applied || !strings.Contains(c.Failure, failure) {
		t.Errorf("%s: %s %q %q", when, c.State, got, c.Failure)
	}
}

func (j *journey) OrgsOf(ctx context.Context, installation int64, location string) ([]string, error) {
	return j.store.OrgsOf(ctx, installation, location)
}

func (j *journey) Enqueue(_ context.Context, args jobs.Args) error {
	j.pending = append(j.pending, args.(git.SyncArgs).OrgID)
	return nil
}

func (j *journey) EnqueueOnce(ctx context.Context, args jobs.Args) (bool, error) {
	return true, j.Enqueue(ctx, args)
}

func (j *journey) Apply(_ context.Context, _ core.Org, s git.Snapshot, _ map[definitions.Ref]bool) (git.Report, error) {
	j.applied = append(j.applied, s.Revision.Branch+" "+string(s.Tree["welcome.hbs"]))
	return git.Report{}, nil
}

// work does the jobs, and returns the connection and what was applied in between.
func (j *journey) work(t *testing.T) (git.Connection, string) {
	t.Helper()
	j.applied = nil
	for _, id := range j.pending {
		if err := j.syncs.Sync(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	j.pending = nil
	c, err := j.store.Connection(t.Context(), j.org)
	if err != nil {
		t.Fatal(err)
	}
	return c, strings.Join(j.applied, ", ")
}

// TestJourney connects a repository, pushes to it, renames its default branch, proposes a change that
// people merge, and uninstalls the app.
func TestJourney(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		j := newJourney(t, db)
		j.commit("one")
		if _, err := j.Connect(t.Context(), git.Connection{OrgID: j.org, Kind: git.GitHub, Location: githubtest.Name, Installation: githubtest.Installation}); err != nil {
			t.Fatal(err)
		}
		j.expect(t, "connected", git.Synced, "main one", "")
		j.commit("two")
		j.deliver(t, "push", `"ref": "refs/heads/main",`)
		j.expect(t, "pushed", git.Synced, "main two", "")
		const branch = "mailhelm/templates_author-0123456789abcdef"
		opened, err := j.proposals.OpenPullRequest(t.Context(), j.org, branch, core.RepositoryChange{Title: "Greet", Files: map[string][]byte{"welcome.hbs": []byte("three")}})
		if err != nil || opened.URL != j.server.URL+"/acme/definitions/pull/1" {
			t.Fatalf("%+v %v", opened, err)
		}
		j.server.Decide(branch, true)
		j.deliver(t, "pull_request", `"action": "closed", "pull_request": {"head": {"ref": "`+branch+`"}},`)
		j.expect(t, "merged", git.Synced, "main three", "")
		all, err := j.store.Proposals(t.Context(), j.org, 9)
		if err != nil || len(all) != 1 || all[0].State != git.Merged || all[0].URL != opened.URL || all[0].Operation != "templates_author" {
			t.Errorf("%+v %v", all, err)
		}
		j.server.SetDefaultBranch("trunk")
		j.deliver(t, "repository", `"action": "edited",`)
		j.expect(t, "renamed branch", git.Synced, "trunk three", "")
		j.server.EndTokens()
		j.server.Refuse(func(shape string, w http.ResponseWriter, _ *http.Request) bool {
			if shape == "token" {
				w.WriteHeader(http.StatusNotFound)
			}
			return shape == "token"
		})
		j.deliver(t, "installation", `"action": "deleted",`)
		j.expect(t, "uninstalled", git.Failed, "", "not installed")
	})
}
