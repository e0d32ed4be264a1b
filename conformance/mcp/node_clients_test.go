package mcp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/oauth/clients"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/conformance/standin"
	"github.com/mailhelm/mailhelm/core"
)

// agentTask is the input of a program with an MCP library for Node.js.
type agentTask struct {
	Name            string   `json:"name"`
	Revisions       []string `json:"revisions"`
	MCP             string   `json:"mcp"`
	Live            string   `json:"live"`   // tokens
	Test            string   `json:"test"`   // of a test client
	Narrow          string   `json:"narrow"` // with the scope to view contacts alone
	Contact         string   `json:"contact"`
	Confirming      string   `json:"confirming"`
	ConfirmingToken string   `json:"confirmingToken"`
}

// agentSight is the library's report of the answers at one revision.
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

// The libraries for Node.js do a day's work at every revision that they speak:
// list, call, failure, refusal, replay and both ways to confirm.
func TestNodeClientsDoTheSlice(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	for program, spoken := range map[string][]string{
		"mcp_agent_sdk.mjs":    revisions[1:], // the first generation ends before the newest
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
				if diff := cmp.Diff(expectedSight(revision), seen[revision]); diff != "" {
					t.Errorf("at %s (-want +got):\n%s", revision, diff)
				}
			}
		})
	}
}

func expectedSight(revision string) agentSight {
	byForm := "confirmation_required" // forms in an answer came with the newest
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
