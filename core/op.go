package core

import "context"

// Op declares one operation of the product: its name, its effect, the scopes that it needs
// and its functions. The tool, the route, the schemas, the documentation, the audit line and
// the metric are derived from it.
//
// In and Out are structs. Their JSON member names come from the "json" tag, descriptions and
// limits from the "jsonschema" and "jsonschema_description" tags. A field tagged only:"rest"
// or only:"agent" exists on that surface alone. agentmax:"50" limits a number, or the length
// of an array, on the agent endpoint. A text of Out names its author in the tag "voice"; see
// [Voice]. Prepare leaves its results for Do in fields of In that are tagged json:"-".
type Op[In, Out any] struct {
	// Name is verb and noun in snake case, domain first: contacts_upsert. It is
	// the tool's name, the operationId, the audit verb and the metric's label.
	Name  string
	Title string
	// Purpose is the tool's description, written for an agent, in this order: what it does,
	// when to use it ("Use it", "Call it"), what it "Returns", and last what it does not do
	// ("It ... not").
	Purpose string
	Effect  Effect
	// Cost is how much work a read causes in the database. Every read of the catalogue
	// declares it.
	Cost Cost
	// CostOf is the cost of one call, for a read that is Heavy with some arguments and Light
	// with others; nil means Cost.
	CostOf func(*Call, In) Cost
	// ReachesPeople is true when a call reaches people outside the organization. All other
	// operations work on the organization's own data and sending account, however far away
	// the account is.
	ReachesPeople bool
	// Scopes are all required.
	Scopes   []Scope
	GitOwned GitOwned
	// Writes is the kind of record that a write changes. Replay is how long a repeated call
	// without a key counts as a repetition. The zero values fit operations that write no
	// contact.
	Writes Subject
	Replay ReplayScope

	// Confirm describes the effect of the call for a caller who must agree first. It is nil
	// for all operations but the two irreversible ones. It runs when the caller asks, when
	// the caller confirms, and inside the transaction before Do. So it must not use the
	// network or change anything.
	Confirm func(context.Context, *Call, In) (*Confirmation, error)
	// Prepare runs before the transaction and may use the network. Do gets the In that it
	// returns. It is nil when nothing needs to be prepared.
	Prepare func(context.Context, *Call, In) (In, error)
	// Propose replaces Do for an organization whose definitions come from a repository: it
	// computes the change there and opens the pull request. Like Prepare, it runs before the
	// transaction. It is declared if and only if GitOwned is GitPullRequest.
	Propose func(context.Context, *Call, In, OpenPullRequest) (Out, error)
	// Do carries out the operation. A write runs inside a transaction, with the audit line
	// and the replay record, and never uses the network.
	Do func(context.Context, *Call, In) (Out, error)
	// Recall completes the result of a repeated call with members of Out that must not be
	// stored: secrets, tagged json:"-". nil when Out has no secrets.
	Recall func(context.Context, *Call, Out) (Out, error)
}

// Effect is what an operation does to stored data and to recipients.
type Effect int

// The effects, from harmless to irreversible.
const (
	Reads    Effect = iota
	Writes          // changes something, and can be changed back
	Destroys        // loses something or reaches people; refused to test credentials
)

// String returns the name of the effect as the documentation shows it.
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

// Cost is how much work a read causes in the database. Heavy reads wait for a slot, fairly
// between organizations; see guardrails.
type Cost int

// The costs of reads. A write declares none, because it finds its rows by keys.
const (
	Undeclared Cost = iota
	// Light reads find rows by an index and read one page of them, or definitions.
	Light
	// Heavy reads may read a large part of an organization's data.
	Heavy
)

// GitOwned is how a write behaves when the organization's definitions come from a
// repository.
type GitOwned int

// What a git-connected organization does with an operation.
const (
	GitIndifferent GitOwned = iota // the operation touches no definition
	GitRefused                     // the write is refused; the repository is where to change it
	GitPullRequest                 // the write becomes a pull request
)

// OpenPullRequest opens a pull request with a change. For a repeated call it returns the
// pull request that is already open.
type OpenPullRequest func(context.Context, RepositoryChange) (PullRequest, error)

// RepositoryChange is a write as the content of a commit.
type RepositoryChange struct {
	// Title is the first line of the commit message, Message is the rest.
	Title, Message string
	// Files are whole contents by path from the root of the repository; nil
	// removes the file.
	Files map[string][]byte
}

// PullRequest is a pull request that awaits review. People decide whether to merge it.
type PullRequest struct {
	URL string
}

// Confirmation is the consequence that a caller must agree to before an irreversible
// operation. Both members are signed. If either differs at the second call, the agreement is
// void.
type Confirmation struct {
	// Message states the consequence with numbers that Mailhelm computed. It contains names
	// that customers wrote only quoted and clipped; see [Quote].
	Message string
	// Preview is the consequence as data.
	Preview any
}

// AgentViewer is implemented by an Out whose result differs for agents. The concrete return
// type is the tool's output schema.
type AgentViewer[V any] interface{ AgentView() V }

// RESTViewer is implemented by an Out whose result differs over REST. The concrete return
// type is the route's response schema.
type RESTViewer[V any] interface{ RESTView() V }

// Creator is implemented by an Out that may create a record. WasCreated reports whether the
// call did; REST then answers 201 instead of 200.
type Creator interface{ WasCreated() bool }
