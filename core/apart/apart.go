// Package apart runs functions that need much stack on a goroutine of their own.
//
// A goroutine keeps the largest stack that it needed, at least until the next run of the
// garbage collector, and then more than twice what it uses. Calls that wait for many seconds,
// such as the polls of inboxes, therefore read and decode apart and wait with a small stack.
// Thousands of them may wait at the same time.
package apart

// Run runs f in a goroutine of its own and waits until it has ended. A panic of f continues
// in the caller.
func Run(f func()) {
	ended := make(chan any, 1)
	go func() {
		defer func() { ended <- recover() }()
		f()
	}()
	if panicked := <-ended; panicked != nil {
		panic(panicked)
	}
}
