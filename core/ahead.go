package core

import "fmt"

// StartAsync starts f in a goroutine and returns a function that waits for its result. A panic of
// f becomes an error of that function, because no caller could recover it. The caller may
// leave without waiting. To stop f, end its context and then wait.
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
