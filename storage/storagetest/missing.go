package storagetest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Missing skips a test for the reason that a service is not there, and fails it when CI
// is true, unless the run is without services.
func Missing(tb testing.TB, reason string) {
	tb.Helper()
	if !Services() {
		tb.Skip("this run is without services")
	}
	if os.Getenv("CI") == "true" {
		tb.Fatal(reason)
	}
	announce(reason)
	tb.Skip(reason)
}

var announced sync.Map

// announce prints a reason once, where it is read even when skips are not listed.
func announce(reason string) {
	if _, before := announced.LoadOrStore(reason, true); !before {
		fmt.Fprintln(os.Stderr, reason)
	}
}
