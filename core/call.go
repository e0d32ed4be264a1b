package core

import "time"

// Surface is the wire a call came over. Results and arguments may differ between the two;
// see [AgentViewer] and the field tag "only".
type Surface string

// The two surfaces.
const (
	REST  Surface = "rest"
	Agent Surface = "agent"
)

// Call is one invocation of an operation: who calls, over which surface, at
// which instant. A Call belongs to one goroutine.
type Call struct {
	Principal Principal
	Surface   Surface
	RequestID string
	// Now is the instant of the call. All records that the call stores carry this time.
	Now time.Time

	subject string
	after   []func()
}

// SetSubject records the id of the record that a write changed, for the audit line. It takes ids
// only: never an address or a name.
func (c *Call) SetSubject(id string) { c.subject = id }

// Subject returns the id that About recorded.
func (c *Call) Subject() string { return c.subject }

// Defer registers f to run when the call is over, whether it succeeded or failed, last
// registered first. Prepare registers the release of a lock that must last until the
// transaction is decided.
func (c *Call) Defer(f func()) { c.after = append(c.after, f) }

// Finish runs the functions that After registered. The rails call it exactly once.
func (c *Call) Finish() {
	for i := len(c.after) - 1; i >= 0; i-- {
		c.after[i]()
	}
	c.after = nil
}
