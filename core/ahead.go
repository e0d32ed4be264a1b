package core

import "fmt"

// StartAsync starts f in a goroutine and returns a function that waits for the result of f.
// If f panics, the returned function returns an error, because the caller cannot recover a
// panic of another goroutine. The caller need not wait for the result. To stop f, cancel
// the context that f uses, and then wait.
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
