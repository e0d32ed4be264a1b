package mcp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/oauth/clients"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/conformance/standin"
	"github.com/mailhelm/mailhelm/core"
)

// agentTask is the JSON input of a Node.js program that calls the endpoints with an MCP
// library.
type agentTask struct {
	Name            string   `json:"name"`
	Revisions       []string `json:"revisions"`
	MCP             string   `json:"mcp"`
	Live            string   `json:"live"`   // an access token with all scopes
	Test            string   `json:"test"`   // an access token of a test client
	Narrow          string   `json:"narrow"` // an access token that may only view contacts
	Contact         string   `json:"contact"`
	Confirming      string   `json:"confirming"`
	ConfirmingToken string   `json:"confirmingToken"`
}

// agentSight is what a Node.js program reports about the answers that its MCP library got
// at one protocol revision.
type agentSight struct {
	Agreed      string   `json:"agreed"`
	Tools       []string `json:"tools"`
	Found       bool     `json:"found"`
	Failure     []any    `json:"failure"`
	Unknown     bool     `json:"unknown"`
	Environment []any    `json:"environment"`
	NarrowTools []string `json:"narrowTools"`
	Scope       bool     `json:"scope"`
	Writes      [][]any  `json:"writes"`
	Confirmed   []string `json:"confirmed"`
	ByForm      string   `json:"byForm"`
}

// TestNodeClientsDoTheSlice checks the MCP libraries for Node.js at every revision that
// they support: tool list, calls, tool errors, refusals and replays. It also checks
// confirmation by a form and by a token.
func TestNodeClientsDoTheSlice(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	for program, spoken := range map[string][]string{
		"mcp_agent_sdk.mjs":    revisions[1:], // this library does not support the newest revision
		"mcp_agent_client.mjs": revisions,
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			c := startConfirming(t)
			seen := map[string]agentSight{}
			clients.Run(t, program, agentTask{
				Name: program, Revisions: spoken, MCP: p.MCPURL + "/mcp",
				Live: p.Token(t, p.MCPURL), Test: p.TokenWith(t, p.Test, p.MCPURL), Narrow: p.Token(t, p.MCPURL, "api.contacts.view"),
				Contact: p.Contact, Confirming: c.url + "/mcp", ConfirmingToken: standin.Token,
			}, clients.Person{}, &seen)
			for _, revision := range spoken {
				if diff := cmp.Diff(expectedTools(revision), seen[revision]); diff != "" {
					t.Errorf("at %s (-want +got):\n%s", revision, diff)
				}
			}
		})
	}
}

func expectedTools(revision string) agentSight {
	// only at the newest revision can the answer of a call contain a form for the person
	byForm := "confirmation_required"
	if revision == modern {
		byForm = "sending"
	}
	return agentSight{
		Agreed:      revision,
		Tools:       everyTool(),
		Found:       true,
		Failure:     []any{true, "not_found"},
		Unknown:     true,
		Environment: []any{true, "test_environment_forbidden"},
		NarrowTools: toolsOf(core.ContactsView),
		Scope:       true,
		Writes:      [][]any{{"created", false}, {"created", true}},
		Confirmed:   []string{"confirmation_required", "sending"},
		ByForm:      byForm,
	}
}
