package core

import "time"

// Surface is the way in which a call reached Mailhelm: REST, MCP or a page of the
// dashboard. Arguments and results may differ between REST and MCP; see [AgentViewer] and
// the field tag "only".
type Surface string

// The values of Surface. Dashboard has the arguments and results of REST.
const (
	REST      Surface = "rest"
	Agent     Surface = "agent"
	Dashboard Surface = "dashboard"
)

// Call is one invocation of an operation: who calls, over which surface, at
// which instant. A Call belongs to one goroutine.
type Call struct {
	Principal Principal
	Surface   Surface
	RequestID string
	// Now is the instant at which the call began. Most records that the call stores have
	// this time. Contacts and list memberships have the time at which they are written.
	Now time.Time
	// Files are the files of an archive that the caller sent in place of a JSON body, by their
	// paths; nil for a JSON body. The arguments are then those of the query.
	Files map[string][]byte

	subject string
	after   []func()
	logged  bool
}

// SetSubject records the id of the record that a write changed, for the audit entry of the
// call. It accepts only ids, never an email address or a name.
func (c *Call) SetSubject(id string) { c.subject = id }

// Subject returns the id that SetSubject recorded, "" for none.
func (c *Call) Subject() string { return c.subject }

// SetLogged records that a write has appended its own lines to the audit log, or has changed nothing.
// The call then gets no further line.
func (c *Call) SetLogged() { c.logged = true }

// IsLogged reports whether SetLogged was called.
func (c *Call) IsLogged() bool { return c.logged }

// Defer registers f to run when the call ends, whether it succeeded or failed. The function
// that was registered last runs first. If the Prepare step of an operation takes a lock
// until the end of the transaction, it registers the release with Defer.
func (c *Call) Defer(f func()) { c.after = append(c.after, f) }

// Finish runs the functions that Defer registered. Package guardrails calls it exactly
// once.
func (c *Call) Finish() {
	for i := len(c.after) - 1; i >= 0; i-- {
		c.after[i]()
	}
	c.after = nil
}
