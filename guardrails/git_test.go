package guardrails_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/prometheus/client_golang/prometheus"
)

// repositories is a [guardrails.RepositoryHost] that stores the proposed changes by branch.
type repositories struct {
	mu     sync.Mutex
	asked  []string // branches, in order
	open   map[string]core.RepositoryChange
	orgs   []string
	refuse error
}

func (r *repositories) OpenPullRequest(_ context.Context, orgID, branch string, change core.RepositoryChange) (core.PullRequest, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse != nil {
		return core.PullRequest{}, r.refuse
	}
	r.asked, r.orgs, r.open[branch] = append(r.asked, branch), append(r.orgs, orgID), change
	return core.PullRequest{URL: "https://git.test/pull/" + branch}, nil
}

type proposedOut struct {
	Status string `json:"status"`
	URL    string `json:"pull_request_url,omitempty"`
}

// definitions has one operation, op_propose, which saves a definition. If a Git repository
// owns the definition, the operation opens a pull request instead.
type definitions struct {
	*bundle
	saved atomic.Int32
	// managed has the email addresses whose definitions are edited in Mailhelm. unknown is the error
	// of that question.
	managed map[string]bool
	unknown error
}

func (d *definitions) operation() core.Operation {
	return core.Declare(core.Op[effectIn, proposedOut]{
		Name: "op_propose", Purpose: "Saves.", Effect: core.Writes, Scopes: []core.Scope{core.ContactsManage},
		GitOwned: core.GitPullRequest,
		Propose: func(ctx context.Context, _ *core.Call, in effectIn, open core.OpenPullRequest) (proposedOut, error) {
			request, err := open(ctx, core.RepositoryChange{Title: "Change it", Files: map[string][]byte{"contacts/" + in.Email: []byte("proposed")}})
			return proposedOut{"pull_request_open", request.URL}, errors.Join(err, d.fault())
		},
		IsManaged: func(_ context.Context, _ *core.Call, in effectIn) (bool, error) {
			return d.managed[in.Email], d.unknown
		},
		Do: func(context.Context, *core.Call, effectIn) (proposedOut, error) {
			d.saved.Add(1)
			return proposedOut{Status: "saved"}, nil
		},
	})
}

// newConnected returns the operation of the type definitions behind the real guardrails.
// host may be nil, which means that no repository can be reached.
func newConnected(t *testing.T, host guardrails.RepositoryHost) *definitions {
	t.Helper()
	d := &definitions{bundle: setup(t)}
	cfg := guardrails.Config{
		Transactor: d.db, Replays: d.db.Replay(), Audit: d.db.Audit(), Repositories: host,
		Clock: d.clock.Now, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	}
	d.catalogue = guardrails.New(cfg).Catalogue([]core.Operation{d.operation()})
	return d
}

func newRepositories() *repositories {
	return &repositories{open: map[string]core.RepositoryChange{}}
}

func TestAWriteBecomesAPullRequest(t *testing.T) {
	t.Parallel()
	host := newRepositories()
	b := newConnected(t, host)
	result := mustCall(t, b.bundle, "op_propose", connectGit)
	out := result.Value.(proposedOut)
	if out.Status != "pull_request_open" || out.URL != "https://git.test/pull/"+host.asked[0] {
		t.Errorf("result %+v", out)
	}
	change := host.open[host.asked[0]]
	if change.Title == "" || string(change.Files["contacts/ann@example.com"]) != "proposed" || host.orgs[0] != b.principal.Org.ID {
		t.Errorf("change %+v of %v", change, host.orgs)
	}
	if b.saved.Load() != 0 || b.countAudited(t) != 1 {
		t.Errorf("%d writes beside the request, %d audit lines", b.saved.Load(), b.countAudited(t))
	}
	if again := mustCall(t, b.bundle, "op_propose", connectGit); !again.Replayed || again.Value != result.Value || len(host.asked) != 1 {
		t.Errorf("the same call again: %+v, %d requests", again, len(host.asked))
	}
}

func TestWithoutARepositoryTheWriteIsAWrite(t *testing.T) {
	t.Parallel()
	host := newRepositories()
	b := newConnected(t, host)
	if out := mustCall(t, b.bundle, "op_propose", nil).Value.(proposedOut); out.Status != "saved" || b.saved.Load() != 1 || len(host.asked) != 0 {
		t.Errorf("%+v, %d writes, %d requests", out, b.saved.Load(), len(host.asked))
	}
}

// TestManagedDefinitionsAreSaved checks that a definition that is edited in Mailhelm is saved without a pull
// request, also if no repository can be reached, and that other definitions are not.
func TestManagedDefinitionsAreSaved(t *testing.T) {
	t.Parallel()
	for _, host := range []guardrails.RepositoryHost{newRepositories(), nil} {
		b := newConnected(t, host)
		b.managed = map[string]bool{"ann@example.com": true}
		if out := mustCall(t, b.bundle, "op_propose", connectGit).Value.(proposedOut); out.Status != "saved" || b.saved.Load() != 1 || b.countAudited(t) != 1 {
			t.Errorf("%+v, %d writes, %d audit lines", out, b.saved.Load(), b.countAudited(t))
		}
		b.unknown = errors.New("the database does not answer")
		_, err := b.call(t, "op_propose", func(r *guardrails.Request) { connectGit(r); r.IdempotencyKey = "another" })
		if wantCode(t, err, core.CodeInternalError); b.saved.Load() != 1 {
			t.Error("saved without an answer to the question who edits it")
		}
	}
}

// TestBranchesBelongToCalls checks that a repeated call uses the branch of its interrupted
// attempt, and that a call with another idempotency key uses another branch.
func TestBranchesBelongToCalls(t *testing.T) {
	t.Parallel()
	host := newRepositories()
	b := newConnected(t, host)
	for _, key := range []string{"k", "k", "other"} {
		b.failNext = errors.New("cut short")
		_, err := b.call(t, "op_propose", func(r *guardrails.Request) { connectGit(r); r.IdempotencyKey = key })
		wantCode(t, err, core.CodeInternalError)
	}
	if len(host.asked) != 3 || host.asked[0] != host.asked[1] || host.asked[0] == host.asked[2] || b.countAudited(t) != 0 {
		t.Errorf("branches %v, %d audit lines", host.asked, b.countAudited(t))
	}
	if !strings.HasPrefix(host.asked[0], "mailhelm/op_propose-") {
		t.Errorf("branch %q", host.asked[0])
	}
}

func TestProposalsThatCannotBeMadeAreRefused(t *testing.T) {
	t.Parallel()
	b := newConnected(t, nil)
	for surface, code := range map[core.Surface]core.Code{core.Agent: core.CodePullRequestRequired, core.REST: core.CodeConflict} {
		_, err := b.call(t, "op_propose", func(r *guardrails.Request) { connectGit(r); r.Surface = surface })
		wantCode(t, err, code)
	}
	host := newRepositories()
	b = newConnected(t, host)
	host.refuse = &core.Error{Code: core.CodeUpstreamUnavailable, Message: "The repository does not answer."}
	_, err := b.call(t, "op_propose", connectGit)
	wantCode(t, err, core.CodeUpstreamUnavailable)
	host.refuse = nil
	if r := mustCall(t, b.bundle, "op_propose", connectGit); r.Replayed || b.saved.Load() != 0 {
		t.Errorf("after a refusal: %+v", r)
	}
	_, err = b.call(t, "op_propose", func(r *guardrails.Request) { connectGit(r); r.Arguments = json.RawMessage(`{}`) })
	wantCode(t, err, core.CodeValidationFailed)
}
