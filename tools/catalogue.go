package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Entry is one tool of the endpoint. The names are a public interface: renaming or removing
// one breaks agents that use it.
type Entry struct {
	Name   string
	Scopes []core.Scope
	// OpenWorld is true when a call reaches people outside the organization. All
	// other tools work on the organization's own data and sending account, which
	// is a closed world however far away the account is.
	OpenWorld bool
}

var table = []Entry{
	{"sending_readiness_check", []core.Scope{core.AccountView}, false},
	{"suppressions_check_address", []core.Scope{core.SuppressionsView}, false},
	{"suppressions_list", []core.Scope{core.SuppressionsView}, false},
	{"undeliverable_list", []core.Scope{core.UndeliverableView}, false},
	{"reports_get_sending_health", []core.Scope{core.ReportsView}, false},
	{"messages_search", []core.Scope{core.MessagesView}, false},
	{"messages_diagnose", []core.Scope{core.MessagesView}, false},
	{"contacts_lookup", []core.Scope{core.ContactsView}, false},
	{"lists_list", []core.Scope{core.ListsView}, false},
	{"segments_list", []core.Scope{core.SegmentsView}, false},
	{"segments_preview_predicate", []core.Scope{core.SegmentsView}, false},
	{"audience_get_schema", []core.Scope{core.AttributesView, core.TopicsView}, false},
	{"contacts_upsert", []core.Scope{core.ContactsManage}, false},
	{"contacts_archive", []core.Scope{core.ContactsManage}, false},
	{"contacts_set_list_membership", []core.Scope{core.ContactsManage, core.ListsView}, false},
	{"activities_record", []core.Scope{core.ActivitiesWrite}, false},
	{"templates_list", []core.Scope{core.TemplatesView}, false},
	{"templates_render", []core.Scope{core.TemplatesView}, false},
	{"templates_author", []core.Scope{core.TemplatesManage}, false},
	{"templates_test_send", []core.Scope{core.TemplatesTest}, true},
	{"workflows_get_performance", []core.Scope{core.WorkflowsView}, false},
	{"workflows_dry_run", []core.Scope{core.WorkflowsView}, false},
	{"workflows_estimate_enrollment", []core.Scope{core.WorkflowsView}, false},
	{"workflows_author", []core.Scope{core.WorkflowsManage}, false},
	{"workflows_activate", []core.Scope{core.WorkflowsManage}, true},
	{"broadcasts_get_status", []core.Scope{core.BroadcastsView}, false},
	{"broadcasts_preview", []core.Scope{core.BroadcastsView}, false},
	{"broadcasts_compose", []core.Scope{core.BroadcastsManage, core.ListsView, core.SegmentsView}, false},
	{"broadcasts_test_send", []core.Scope{core.BroadcastsManage}, true},
	{"broadcasts_send", []core.Scope{core.BroadcastsManage}, true},
}

// Table returns every tool of the documentation, in its order, mounted or not.
func Table() []Entry { return slices.Clone(table) }

// tool is an entry with its operation, ready to be listed and called.
type tool struct {
	op        *guardrails.Operation
	described *mcp.Tool
	confirms  bool
	// needs are the operation's scopes in the form of a challenge.
	needs string
	// untrusted are the members of the result that hold texts of customers or third parties.
	untrusted []string
}

func mount(entry Entry, op *guardrails.Operation) (*tool, error) {
	info := op.Info()
	if declared := core.Scopes(info.Scopes); !slices.Equal(sortedScopes(entry.Scopes), sortedScopes(declared)) {
		return nil, fmt.Errorf("the operation needs %v, the table says %v", declared, entry.Scopes)
	}
	input, err := inputSchema(op)
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	output, err := outputSchema(op)
	if err != nil {
		return nil, fmt.Errorf("output schema: %w", err)
	}
	return &tool{
		op:        op,
		confirms:  info.Confirms,
		needs:     joinScopes(info.Scopes),
		untrusted: core.UntrustedPaths(op.Texts(core.Agent)),
		described: &mcp.Tool{
			Name: info.Name, Title: info.Title, Description: info.Purpose,
			Annotations:  annotate(entry, info),
			InputSchema:  input,
			OutputSchema: output,
		},
	}, nil
}

func sortedScopes(scopes []core.Scope) []core.Scope {
	return slices.Sorted(slices.Values(scopes))
}

// annotate sets all four hints, because the protocol's defaults are the
// cautious ones and would make every read look destructive. A write is
// idempotent by the replay rail; for a read the hint has no meaning.
func annotate(entry Entry, info core.OperationInfo) *mcp.ToolAnnotations {
	reads := info.Effect == core.Reads
	destroys := info.Effect == core.Destroys || info.Confirms
	return &mcp.ToolAnnotations{
		ReadOnlyHint:    reads,
		DestructiveHint: &destroys,
		IdempotentHint:  !reads,
		OpenWorldHint:   &entry.OpenWorld,
	}
}

func joinScopes(scopes []core.Scope) string {
	return strings.Join(core.Scopes(scopes).Strings(), " ")
}
