package core

import "time"

// Surface is the wire a call came over. Results and arguments may differ a
// little between the two; see [AgentViewer] and the field tag "only".
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
	// Now is the one instant of the call. Everything it stores carries this time.
	Now time.Time

	subject string
	after   []func()
}

// About records the id of the thing a write changed, for the audit line. Ids
// only: an address or a name does not belong there.
func (c *Call) About(id string) { c.subject = id }

// Subject is what About recorded.
func (c *Call) Subject() string { return c.subject }

// After registers f to run when the call is over, whether it succeeded or not,
// last registered first. Prepare uses it to let go of what it holds until the
// transaction is decided.
func (c *Call) After(f func()) { c.after = append(c.after, f) }

// Finish runs what After registered. The rails call it exactly once.
func (c *Call) Finish() {
	for i := len(c.after) - 1; i >= 0; i-- {
		c.after[i]()
	}
	c.after = nil
}
