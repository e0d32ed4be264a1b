package enginetest

import (
	"flag"
	"os"
	"strconv"
)

const (
	// servicesVariable is an environment variable. The value "none" skips every test that
	// needs a server or a program other than Go; see "make test-fast".
	servicesVariable = "MAILHELM_TEST_SERVICES"
	// fullVariable is an environment variable. With the value "1" all tests run at full
	// length; see "make test-full".
	fullVariable = "MAILHELM_TEST_FULL"
)

// Services reports whether tests may use a database server, Redis, Chromium and npm.
func Services() bool { return os.Getenv(servicesVariable) != "none" }

// Full reports whether tests run at full length: on every engine, and with every text,
// random seed and round. It is false in CI, which runs a smaller part that finds the same
// kinds of faults (core/doc/decisions/0072).
func Full() bool { return os.Getenv(fullVariable) == "1" }

// Share returns how many of the given number of calls or rounds a test makes. It returns
// all if MAILHELM_TEST_FULL is "1", otherwise a quarter.
func Share(all int) int {
	const part = 4
	if Full() {
		return all
	}
	return max(1, all/part)
}

// ReduceRandomCases sets the number of random cases of each rapid.Check to [Share] of its
// default of 100. The TestMain of a package with many expensive cases calls it. A flag
// -rapid.checks takes precedence, because the tests parse flags later.
func ReduceRandomCases() {
	const all = 100
	if f := flag.Lookup("rapid.checks"); f != nil && f.DefValue == strconv.Itoa(all) {
		_ = f.Value.Set(strconv.Itoa(Share(all))) // fails only for a text that is no number
	}
}
