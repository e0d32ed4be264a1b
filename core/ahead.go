package core

import "fmt"

// Ahead has f run beside what its caller does, and returns a function that waits for
// what comes of it. A panic of f is an error there, since nobody above its goroutine
// would catch one. A caller that gives up need not wait; who must not leave f behind
// ends its context and then waits.
func Ahead[T any](f func() (T, error)) func() (T, error) {
	type outcome struct {
		value T
		err   error
	}
	ready := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if v := recover(); v != nil {
				o.err = fmt.Errorf("working ahead panicked: %s", PanicText(v))
			}
			ready <- o
		}()
		o.value, o.err = f()
	}()
	return func() (T, error) {
		o := <-ready
		return o.value, o.err
	}
}
