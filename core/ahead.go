package core

import "fmt"

// StartAsync starts f in a goroutine and returns a function that waits for its result. If f
// panics, the returned function fails, because the caller could not recover the panic. The
// caller need not wait for the result. To stop f, cancel its context and then wait.
func StartAsync[T any](f func() (T, error)) func() (T, error) {
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
