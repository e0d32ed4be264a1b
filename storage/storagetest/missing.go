package storagetest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Missing skips a test because a service is missing, and prints the reason. It fails the
// test when CI is true. A run with MAILHELM_TEST_SERVICES=none always skips.
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

// announce prints a reason once to standard error, where it is visible even if skips are
// not listed.
func announce(reason string) {
	if _, before := announced.LoadOrStore(reason, true); !before {
		fmt.Fprintln(os.Stderr, reason)
	}
}
