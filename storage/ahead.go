package storage

// ahead has f run beside what its caller does, until the caller asks for what came of
// it. Thousands of rows take about as long to write down as a parameter as the
// database takes to store them, so the one is done during the other.
func ahead[T any](f func() (T, error)) func() (T, error) {
	type made struct {
		value T
		err   error
	}
	ready := make(chan made, 1) // a caller that gives up never asks
	go func() {
		value, err := f()
		ready <- made{value, err}
	}()
	return func() (T, error) {
		m := <-ready
		return m.value, m.err
	}
}
