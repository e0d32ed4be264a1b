package product

import (
	"testing"
	"time"
)

// Await calls ready every ten milliseconds until it returns nil. After the limit it ends the
// test with the last error of ready. It must run in the goroutine of the test.
func Await(t testing.TB, limit time.Duration, ready func() error) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; <-again.C {
		err := ready()
		if err == nil {
			return
		}
		if time.Since(began) > limit {
			t.Fatalf("still after %v: %v", limit, err)
		}
	}
}
