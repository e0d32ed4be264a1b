package core

import "context"

// Op declares one task of the product: what it is called, what it does to the
// world, who may do it and how. Everything that describes the task elsewhere
// (tool, route, schema, documentation, audit line, metric) is read from here.
//
// In and Out are structs. Their JSON member names come from the "json" tag,
// descriptions and limits from "jsonschema" and "jsonschema_description" tags,
// and a field tagged only:"rest" or only:"agent" exists on that surface alone; a
// number tagged agentmax:"50" may not be more than that on the agent endpoint, and an
// array not longer.
// A text of Out says in the tag "voice" whose words it holds; see [Voice].
// A field of In tagged json:"-" is where Prepare leaves what it found for Do.
type Op[In, Out any] struct {
	// Name is verb and noun in snake case, domain first: contacts_upsert. It is
	// the tool's name, the operationId, the audit verb and the metric's label.
	Name  string
	Title string
	// Purpose is the tool's description, written for an agent, in this order: what
	// it does, when to use it ("Use it", "Call it"), what it "Returns", and in the
	// last sentence what it is not for ("It ... not").
	Purpose string
	Effect  Effect
	// Cost is what a read costs the database; every read of the catalogue declares it.
	Cost Cost
	// CostOf is the cost of one call of a read that is Heavy with some arguments and
	// Light with others; nil means Cost.
	CostOf func(*Call, In) Cost
	// Scopes are all required.
	Scopes   []Scope
	GitOwned GitOwned
	// Writes are the records that a write changes, and Replay how long a repeated call
	// without a key is a repetition. The zero values are right for operations that
	// write no contact.
	Writes Subject
	Replay ReplayScope

	// Confirm describes what the call would do, for a caller who must agree to
	// it first. nil for all operations but the two that cannot be taken back. It is
	// computed when the caller asks, when the caller confirms, and inside the
	// transaction before Do; so it never touches the network and changes nothing.
	Confirm func(context.Context, *Call, In) (*Confirmation, error)
	// Prepare may ask the network; it runs before the transaction opens. What it
	// returns is what Do gets. nil when there is nothing to prepare.
	Prepare func(context.Context, *Call, In) (In, error)
	// Propose does the task for an organization whose definitions come from a
	// repository: it says what changes there and opens the pull request. Like
	// Prepare it runs before the transaction, and Do does not run then. Declared
	// if and only if GitOwned is GitPullRequest.
	Propose func(context.Context, *Call, In, OpenPullRequest) (Out, error)
	// Do does the task. Writes run inside a transaction that also holds the
	// audit line and the replay record, and never touch the network.
	Do func(context.Context, *Call, In) (Out, error)
	// Recall completes a result that a repeated call is answered with, by what must
	// not be remembered: members of Out that are secrets, tagged json:"-". nil when
	// there is nothing of the kind.
	Recall func(context.Context, *Call, Out) (Out, error)
}

// Effect is what an operation does to the world.
type Effect int

// The effects, from harmless to not to be undone.
const (
	Reads    Effect = iota
	Writes          // changes something, and can be changed back
	Destroys        // loses something or reaches people; refused to test credentials
)

// String names the effect as documentation shows it.
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

// Cost is what a read costs the database. Heavy reads wait for a slot, fairly between
// organizations; see guardrails.
type Cost int

// The costs of reads. A write declares none: its organization's data are found by keys.
const (
	Undeclared Cost = iota
	// Light reads find rows by an index and look at a page of them, or at definitions.
	Light
	// Heavy reads may look at much of what an organization has.
	Heavy
)

// GitOwned is what becomes of a write when the organization's definitions come
// from a repository.
type GitOwned int

// What a git-connected organization does with an operation.
const (
	GitIndifferent GitOwned = iota // the operation touches no definition
	GitRefused                     // the write is refused; the repository is where to change it
	GitPullRequest                 // the write becomes a pull request
)

// OpenPullRequest opens a pull request with a change. Opening the change of a call
// that is repeated gives the request that is open already.
type OpenPullRequest func(context.Context, RepositoryChange) (PullRequest, error)

// RepositoryChange is a write as the repository sees it.
type RepositoryChange struct {
	// Title is the first line of the commit, Message what follows it.
	Title, Message string
	// Files are whole contents by path from the root of the repository; nil
	// removes the file.
	Files map[string][]byte
}

// PullRequest is one that awaits review. Merging it is up to people.
type PullRequest struct {
	URL string
}

// Confirmation is what a caller must agree to before an operation that cannot
// be taken back proceeds. Both members are part of what is signed: when either
// comes out differently the second time, the agreement no longer counts.
type Confirmation struct {
	// Message states the consequence with numbers that we computed. Names that
	// others wrote stand in it quoted and clipped, see [Quoted].
	Message string
	// Preview is what will happen, as data.
	Preview any
}

// AgentViewer is an Out whose result looks different to an agent. The concrete
// return type is the tool's output schema.
type AgentViewer[V any] interface{ AgentView() V }

// RESTViewer is an Out whose result looks different over REST. The concrete
// return type is the route's response schema.
type RESTViewer[V any] interface{ RESTView() V }

// Creator is an Out that knows whether the call made a new thing, which REST
// answers with 201 instead of 200.
type Creator interface{ WasCreated() bool }
