package mcp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/tools"
)

const replayed = "dev.service/idempotentReplay"

// TestEveryClientDoesTheSlice checks that each client library can list and call tools at
// every revision and gets the expected refusals.
func TestEveryClientDoesTheSlice(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	live, test := p.Token(t, p.MCPURL), p.TokenWith(t, p.Test, p.MCPURL)
	narrow := p.Token(t, p.MCPURL, "api.contacts.view")
	for library, connect := range libraries {
		for _, revision := range revisions {
			t.Run(library+"/"+revision, func(t *testing.T) {
				t.Parallel()
				endpoint := p.MCPURL + "/mcp"
				a := connect(t, endpoint, live, revision, nil)
				if a.revision() != revision {
					t.Fatalf("agreed on %s", a.revision())
				}
				slice{t, a, library + revision + "@example.com", p.Contact}.run()
				refusals(t, connect(t, endpoint, test, revision, nil), connect(t, endpoint, narrow, revision, nil))
			})
		}
	}
}

// everyTool returns the sorted names of the tools that a client with every scope sees.
func everyTool() []string { return toolsOf(core.AllScopes()...) }

// toolsOf returns the sorted names of the tools that a client with these scopes sees.
func toolsOf(scopes ...core.Scope) []string {
	var names []string
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		info := op.Info()
		lacks := slices.ContainsFunc(info.Scopes, func(s core.Scope) bool { return !slices.Contains(scopes, s) })
		if slices.Contains(tools.Table(), info.Name) && !lacks {
			names = append(names, info.Name)
		}
	}
	slices.Sort(names)
	return names
}

// slice is a sequence of calls by one agent, with the address of a contact that no other
// agent uses.
type slice struct {
	*testing.T
	agent   agent
	address string
	known   string // the address of a contact in the demo data
}

func (s slice) run() {
	if got := s.agent.list(s.T); !slices.Equal(got, everyTool()) {
		s.Errorf("tools/list: %v, want %v", got, everyTool())
	}
	if got := s.call("contacts_lookup", map[string]any{"email": s.known}, nil); !strings.Contains(got.Text, s.known) {
		s.Errorf("contacts_lookup: %s", got.Text)
	}
	s.writes()
	for tool, member := range map[string]string{"lists_list": "items", "audience_get_schema": "attributes", "sending_readiness_check": "checks"} {
		if some, ok := s.call(tool, map[string]any{}, nil).Value[member].([]any); !ok || len(some) == 0 {
			s.Errorf("%s has no %s", tool, member)
		}
	}
}

func (s slice) writes() {
	arguments := map[string]any{"email": s.address, "attributes": map[string]any{"first_name": "Ann"}}
	key := map[string]any{"dev.service/idempotencyKey": "key of " + s.address}
	if got := s.call("contacts_upsert", arguments, key); got.Meta[replayed] != nil || got.Value["result"] != "created" {
		s.Errorf("contacts_upsert: %+v", got)
	}
	if got := s.call("contacts_upsert", arguments, key); got.Meta[replayed] != true || got.Value["result"] != "created" {
		s.Errorf("contacts_upsert again: %+v", got)
	}
	if got := s.call("contacts_archive", map[string]any{"email": s.address}, nil); got.Value["archived"] != true {
		s.Errorf("contacts_archive: %+v", got)
	}
	got, err := s.agent.call(s.T, "contacts_lookup", map[string]any{"email": "nobody." + s.address}, nil)
	if err != nil || !got.Failed || got.Value["code"] != "not_found" || got.Value["hint"] == "" {
		s.Errorf("contacts_lookup of nobody: %+v, %v", got, err)
	}
}

func (s slice) call(tool string, arguments, meta map[string]any) outcome {
	s.Helper()
	got, err := s.agent.call(s.T, tool, arguments, meta)
	if err != nil || got.Failed {
		s.Fatalf("%s: %+v, %v", tool, got, err)
	}
	return got
}

func refusals(t *testing.T, test, narrow agent) {
	t.Helper()
	if slices.Contains(test.list(t), "contacts_archive") {
		t.Error("a test client is shown a tool that destroys")
	}
	got, err := test.call(t, "contacts_archive", map[string]any{"email": "ann@example.com"}, nil)
	if err != nil || !got.Failed || got.Value["code"] != "test_environment_forbidden" {
		t.Errorf("contacts_archive by a test client: %+v, %v", got, err)
	}
	names := narrow.list(t)
	if !slices.Equal(names, toolsOf(core.ContactsView)) || !slices.Contains(names, "contacts_lookup") {
		t.Errorf("a client with one scope is shown %v", names)
	}
	if _, err := narrow.call(t, "lists_list", map[string]any{}, nil); err == nil {
		t.Error("a call without the scope got a result")
	}
}

// TestUnknownToolIsAProtocolError checks that a call of a tool that does not exist is a
// JSON-RPC error that names the tool.
func TestUnknownToolIsAProtocolError(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	token := p.Token(t, p.MCPURL)
	for library, connect := range libraries {
		for _, revision := range revisions {
			_, err := connect(t, p.MCPURL+"/mcp", token, revision, nil).call(t, "contacts_erase", map[string]any{}, nil)
			if err == nil || !strings.Contains(err.Error(), "contacts_erase") {
				t.Errorf("%s at %s: %v", library, revision, err)
			}
		}
	}
}
