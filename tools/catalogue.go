package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/tools/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// table has the names of the operations that are tools, in the order of the documentation.
// The names are a public interface: renaming or removing one breaks agents that use it.
// Everything else about a tool is in the declaration of its operation.
var table = []string{
	"sending_readiness_check",
	"suppressions_check_address",
	"suppressions_list",
	"undeliverable_list",
	"reports_get_sending_health",
	"messages_search",
	"messages_diagnose",
	"contacts_lookup",
	"lists_list",
	"segments_list",
	"segments_preview_predicate",
	"audience_get_schema",
	"contacts_upsert",
	"contacts_archive",
	"contacts_set_list_membership",
	"activities_record",
	"templates_list",
	"templates_render",
	"templates_author",
	"templates_test_send",
	"workflows_get_performance",
	"workflows_dry_run",
	"workflows_estimate_enrollment",
	"workflows_author",
	"workflows_activate",
	"broadcasts_get_status",
	"broadcasts_preview",
	"broadcasts_compose",
	"broadcasts_test_send",
	"broadcasts_send",
}

// Table returns the names of all tools in the order of the documentation. It includes tools
// whose operations do not exist yet.
func Table() []string { return slices.Clone(table) }

// tool is an operation that is served as a tool, with the values that are computed from its
// declaration.
type tool struct {
	op       *guardrails.Operation // nil for a tool added by [Server.AddTool]
	name     string
	confirms bool
	// needs are the operation's scopes, separated by spaces, as in a WWW-Authenticate
	// challenge.
	needs string
	// untrusted returns the paths of the members of a result that contain texts of customers or
	// third parties.
	untrusted func() []string
	// encoded returns the description of the tool as JSON, an item of tools/list. Like
	// untrusted, it is made at the first call, because its schemas take a part of a start.
	encoded func() (json.RawMessage, error)
}

// newTool returns the tool for an operation.
func newTool(op *guardrails.Operation) *tool {
	info := op.Info()
	return &tool{
		op:        op,
		name:      info.Name,
		confirms:  info.Confirms,
		needs:     core.Scopes(info.Scopes).Join(),
		untrusted: sync.OnceValue(func() []string { return core.UntrustedPaths(op.Texts(core.Agent)) }),
		encoded: sync.OnceValues(func() (json.RawMessage, error) {
			described, err := describe(op)
			if err != nil {
				return nil, fmt.Errorf("tool %s: %w", info.Name, err)
			}
			return json.Marshal(described)
		}),
	}
}

// describe returns the description of an operation's tool. It fails if a schema of the operation
// cannot be converted.
func describe(op *guardrails.Operation) (*mcp.Tool, error) {
	info := op.Info()
	input, err := schema.Input(op)
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	output, err := schema.Output(op)
	if err != nil {
		return nil, fmt.Errorf("output schema: %w", err)
	}
	return &mcp.Tool{
		Name: info.Name, Title: info.Title, Description: info.Purpose,
		Annotations:  annotate(info),
		InputSchema:  input,
		OutputSchema: output,
	}, nil
}

// annotate returns the tool's annotations with all four hints set. The protocol's defaults
// would mark every read as destructive. A write is marked as idempotent, because package
// guardrails answers a repeated call with the first result. For a read that hint has no
// meaning.
func annotate(info core.OperationInfo) *mcp.ToolAnnotations {
	reads := info.Effect == core.Reads
	destroys := info.Effect == core.Destroys || info.Confirms
	return &mcp.ToolAnnotations{
		ReadOnlyHint:    reads,
		DestructiveHint: &destroys,
		IdempotentHint:  !reads,
		OpenWorldHint:   &info.ReachesPeople,
	}
}

// checkAllowed fails if the caller lacks a scope of the operation. It also fails if a
// credential of the caller's environment (test or live) may not use the operation. It
// returns nil for a tool without an operation.
func (t *tool) checkAllowed(caller core.Principal) error {
	if t.op == nil {
		return nil
	}
	return t.op.CheckAllowed(caller)
}
