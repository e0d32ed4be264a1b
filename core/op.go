package core

import (
	"context"
	"encoding/json"
)

// Op declares one operation of the product: its name, its effect, the scopes that it needs
// and its functions. The tool, the route, the schemas, the documentation, the audit entry
// and the metric are derived from it.
//
// In and Out are structs. Their JSON member names come from the "json" tag, descriptions
// and limits from the "jsonschema" and "jsonschema_description" tags. A field tagged
// only:"rest" or only:"agent" exists only on that surface. agentmax:"50" limits a number,
// or the length of an array, on the agent endpoint. The tag "voice" of a text in Out names
// its author; see [Voice]. Prepare passes data to Do in fields of In that are not part of
// its JSON.
type Op[In, Out any] struct {
	// Name is the subject and the verb in snake case: contacts_upsert. It is also the name
	// of the tool, the operationId, the action in the audit log and the label of metrics.
	Name  string
	Title string
	// Purpose is the tool's description, written for an agent, in this order: what it does,
	// when to use it ("Use it", "Call it"), what it "Returns", and last what it does not do
	// ("It ... not").
	Purpose string
	// Example has the arguments of a typical call as JSON, for the documentation. It names
	// objects of the demo. "" means a call without arguments. A test makes the call and
	// stores its answer, see package rest/docs/reference/examples.
	Example string
	// AgentExample has the arguments of a typical call of the tool, if they differ from
	// Example; "" means Example.
	AgentExample string
	Effect       Effect
	// Cost is how much work a read causes in the database. Every read must declare it.
	Cost Cost
	// CostOf returns the cost of one call, for a read that is Heavy with some arguments and
	// Light with others; nil means Cost.
	CostOf func(*Call, In) Cost
	// ReachesPeople is true if a call can reach people outside the organization, for example
	// by mail. All other operations work only on the organization's own data and sending
	// account.
	ReachesPeople bool
	// Scopes are the scopes that an operation requires. The credential must have all of
	// them.
	Scopes []Scope
	// ArgumentScopes maps an argument to the further scope that a call with this argument
	// requires.
	ArgumentScopes map[string]Scope
	// ContentScopes are the scopes of which a call needs those that fit the content of its
	// arguments. The operation itself checks them.
	ContentScopes []Scope
	GitOwned      GitOwned
	// Fails are the codes with which a call can fail for a reason of this operation. Codes
	// that follow from the other fields, such as invalid_scope, are not listed.
	Fails []Code
	// Writes is the kind of record that a write changes. Replay is the time during which a
	// repeated call without an idempotency key returns the result of the first call. The
	// zero values fit operations that write no contact.
	Writes Subject
	Replay ReplayScope

	// IgnoresKey makes a write over REST and on the dashboard take effect at each call, also
	// with an idempotency key that was used before.
	IgnoresKey bool

	// Waits states that a call may wait for many seconds, and that thousands may wait at the
	// same time. What precedes Do then runs on a stack of its own (package apart), so that a
	// waiting call has a small one.
	Waits bool

	// Confirm describes what a call of an irreversible operation would do. Agents and people
	// on the dashboard must agree to the description before Do runs; a call over REST is its
	// own agreement. nil means that no confirmation is needed.
	// Confirm runs when the caller requests the confirmation, when the caller confirms, and
	// before Do in the same transaction. So it must not use the network or change anything.
	Confirm func(context.Context, *Call, In) (*Confirmation, error)
	// Prepare runs before the transaction and may use the network. Do receives the input
	// that Prepare returns. If Prepare is nil, Do receives the original input.
	Prepare func(context.Context, *Call, In) (In, error)
	// Propose replaces Do for an organization whose definitions come from a repository: it
	// computes the change in the repository and opens a pull request. Like Prepare, it runs
	// before the transaction. It is declared if and only if GitOwned is GitPullRequest.
	Propose func(context.Context, *Call, In, OpenPullRequest) (Out, error)
	// IsManaged reports whether a call changes a definition that is edited in Mailhelm although
	// the organization has a repository. Such a call is not proposed: Do saves it. nil means that
	// there are no such definitions.
	IsManaged func(context.Context, *Call, In) (bool, error)
	// Do performs the operation. A write runs in a transaction, together with the audit
	// entry and the record for replays, and must not use the network.
	Do func(context.Context, *Call, In) (Out, error)
	// Recall completes the stored result of a repeated call with the members of Out that
	// must not be stored: secrets, tagged json:"-". nil if Out has no secrets.
	Recall func(context.Context, *Call, Out) (Out, error)
}

// Effect is what an operation does to stored data and to recipients.
type Effect int

// The effects of operations, from harmless to irreversible.
const (
	Reads  Effect = iota
	Writes        // changes something that can be changed back
	// Operations that delete something or can reach people outside the organization. They
	// are refused for test credentials.
	Destroys
)

// String returns the name of the effect in the documentation.
func (e Effect) String() string {
	switch e {
	case Writes:
		return "writes"
	case Destroys:
		return "destroys"
	default:
		return "reads"
	}
}

// Cost is how much work a read causes in the database. The guardrails limit how many Heavy
// reads run at once, and share them fairly between organizations.
type Cost int

// The costs of reads. Writes have the cost Undeclared: they find their rows by keys, so the
// guardrails do not limit them by cost.
const (
	Undeclared Cost = iota
	// Light reads find rows by an index and return one page of them, or read definitions
	// such as topics.
	Light
	// Heavy reads may read a large part of an organization's data.
	Heavy
)

// GitOwned says how an operation that writes is handled for an organization whose
// definitions, such as lists, come from a git repository.
type GitOwned int

// How an operation is handled for an organization whose definitions come from a repository.
const (
	GitIndifferent GitOwned = iota // the operation changes no definition
	GitRefused                     // the write is refused; change the definition in the repository
	GitPullRequest                 // the write becomes a pull request
)

// OpenPullRequest opens a pull request with a change of files in the organization's
// repository. For a repeated call, it returns the pull request that the first call opened.
type OpenPullRequest func(context.Context, RepositoryChange) (PullRequest, error)

// RepositoryChange is a proposed commit that changes definitions in a Git repository.
type RepositoryChange struct {
	// Title is the first line of the commit message, Message is the rest.
	Title, Message string
	// Files has the new content of each changed file, by its path from the root of the
	// repository; nil removes the file.
	Files map[string][]byte
	// Definitions are changed or new definitions. Their files are those that the manifest of the
	// repository names, or those of the standard layout for new ones.
	Definitions []RepositoryDefinition
}

// RepositoryDefinition is a definition that a change of a repository contains.
type RepositoryDefinition struct {
	// Kind is "template", "workflow" or "segment", and Key the key in the manifest.
	Kind, Key string
	// Source is the HTML of a template, the source of a workflow or the predicate of a segment.
	Source string
	// Subject, Text and TestData belong to a template, Name and Description to a segment. "" leaves
	// what the manifest has.
	Subject, Text, Name, Description string
	// NoText removes the plain text of a template.
	NoText bool
	// TestData has JSON objects by name, which replace all sets that the repository has. A map
	// without objects removes them, and nil leaves them.
	TestData map[string]json.RawMessage
}

// PullRequest is a change on a branch that awaits review. People decide whether to merge it.
type PullRequest struct {
	// URL is the page of the pull request, "" for a repository without pull requests: then only
	// the branch shows the change.
	URL string
	// Branch is the name of the branch without refs/heads/.
	Branch string
}

// Summary says that the definition, such as a "template", is proposed and not saved, in sentences for
// the caller.
func (p PullRequest) Summary(definition string) string {
	return "The " + definition + " is proposed on the branch " + p.Branch + ", which awaits review. It is not saved: people merge the branch, and then the repository is synced."
}

// Confirmation describes what a call of an irreversible operation will do. The caller must
// agree to it before the operation runs. Both fields are signed. If either differs when the
// caller confirms, the agreement is void.
type Confirmation struct {
	// Message says in a sentence what the call will do, with numbers that Mailhelm computed.
	// Names that customers wrote must be quoted and shortened; see [Quote].
	Message string
	// Preview describes as structured data what the call will do.
	Preview any
}

// AgentViewer is implemented by the result type of an operation, if agents get the result
// in another form. The return type V is the output schema of the tool.
type AgentViewer[V any] interface{ AgentView() V }

// RESTViewer is implemented by the result type of an operation, if REST returns the result
// in another form. The return type V is the response schema of the route.
type RESTViewer[V any] interface{ RESTView() V }

// Creator is implemented by the result type of an operation that may create a record.
// WasCreated reports whether the call created one; REST then answers 201 instead of 200.
type Creator interface{ WasCreated() bool }
