package mcp_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/standin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

type definitionIn struct {
	ID string `json:"id" jsonschema_description:"The definition."`
}

type definitionOut struct {
	Status  string `json:"status"`
	URL     string `json:"pull_request_url,omitempty"`
	Message string `json:"message"`
}

// repository imitates a Git hosting service. It records the branch of each pull request.
// The same branch always gets the same URL.
type repository struct {
	mu     sync.Mutex
	opened []string
}

func (r *repository) OpenPullRequest(_ context.Context, _, branch string, _ core.RepositoryChange) (core.PullRequest, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened = append(r.opened, branch)
	return core.PullRequest{URL: "https://git.test/" + branch}, nil
}

// definitions returns two operations that change a definition, such as a list or a
// template. If a Git repository owns the definitions, contacts_set_list_membership is
// refused, and templates_author opens a pull request instead of the change.
func definitions() []core.Operation {
	saved := func(context.Context, *core.Call, definitionIn) (definitionOut, error) {
		return definitionOut{Status: "saved", Message: "Saved."}, nil
	}
	refused := core.Op[definitionIn, definitionOut]{
		Name: "contacts_set_list_membership", Title: "Change it", Purpose: "Changes it.", Effect: core.Writes,
		Scopes: []core.Scope{core.ContactsManage, core.ListsView}, GitOwned: core.GitRefused, Do: saved,
	}
	proposed := refused
	proposed.Name, proposed.Scopes, proposed.GitOwned = "templates_author", []core.Scope{core.TemplatesManage}, core.GitPullRequest
	proposed.Propose = func(ctx context.Context, _ *core.Call, in definitionIn, open core.OpenPullRequest) (definitionOut, error) {
		request, err := open(ctx, core.RepositoryChange{Title: "Change " + in.ID})
		return definitionOut{"pull_request_open", request.URL, "The pull request awaits review."}, err
	}
	return []core.Operation{core.Declare(refused), core.Declare(proposed)}
}

// serveDefinitions starts an endpoint with the two operations that definitions() returns,
// and sets s.url to its URL. It admits the callers in s.callers. Only the organization of
// the caller "mine" has a Git repository.
func serveDefinitions(t *testing.T, s *signing, host guardrails.RepositoryHost) {
	t.Helper()
	mine := s.callers["mine"]
	mine.Org.GitConnected = true
	s.callers["mine"] = mine
	s.url = standin.Serve(t, standin.Config{Operations: definitions(), DB: s.db, Callers: s, Repositories: host, Clock: s.clock.Now})
}

// TestARepositoryOwnsDefinitions checks changes of definitions, such as lists and
// templates, in an organization with a Git repository. One of two test operations must fail
// with git_owned. The other operation must open one pull request, even if called twice.
// Without a repository both operations must save the change.
func TestARepositoryOwnsDefinitions(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		s, host := startSigning(t, db), &repository{}
		serveDefinitions(t, s, host)
		refused := attempt{caller: "mine", tool: "contacts_set_list_membership", arguments: `"id":"d1"`}
		if got := s.call(t, refused); !got.Result.IsError || got.Result.Structured["code"] != "git_owned" {
			t.Errorf("refused to an agent: %+v", got)
		}
		proposed := attempt{caller: "mine", tool: "templates_author", arguments: `"id":"d1"`}
		for _, again := range []bool{false, true} {
			got := s.call(t, proposed)
			value := got.Result.Structured
			if value["status"] != "pull_request_open" || value["pull_request_url"] != "https://git.test/"+host.opened[0] ||
				!strings.Contains(value["message"].(string), "awaits review") || again != (got.Result.Meta[replayed] == true) {
				t.Errorf("proposed by an agent (again: %t): %+v", again, got)
			}
		}
		for _, tool := range []string{"contacts_set_list_membership", "templates_author"} {
			if got := s.call(t, attempt{caller: "other-org", tool: tool, arguments: `"id":"d1"`}); got.Result.Structured["status"] != "saved" {
				t.Errorf("%s without a repository: %+v", tool, got)
			}
		}
		if len(host.opened) != 1 {
			t.Errorf("%d pull requests: %v", len(host.opened), host.opened)
		}
	})
}
