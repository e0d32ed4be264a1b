package enginetest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// SkipMissing skips the test because a service is not available, and prints the reason. If
// the environment variable CI is "true", it fails the test instead, unless
// MAILHELM_TEST_SERVICES is "none".
func SkipMissing(tb testing.TB, reason string) {
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

// announce prints a reason to standard error, once in each process, because "go test" does
// not list skipped tests by default.
func announce(reason string) {
	if _, before := announced.LoadOrStore(reason, true); !before {
		fmt.Fprintln(os.Stderr, reason)
	}
}
