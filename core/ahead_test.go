package core_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
)

func TestAhead(t *testing.T) {
	t.Parallel()
	met := make(chan string)
	greeting := core.StartAsync(func() (string, error) { return <-met, nil })
	met <- "hello" // succeeds only if the function already runs and receives this value
	if got, err := greeting(); got != "hello" || err != nil {
		t.Error(got, err)
	}
	failure := errors.New("no")
	if _, err := core.StartAsync(func() (int, error) { return 0, failure })(); !errors.Is(err, failure) {
		t.Error(err)
	}
	_, err := core.StartAsync(func() (int, error) { panic("ada@example.com") })()
	if err == nil || strings.Contains(err.Error(), "ada@") || !strings.Contains(err.Error(), "ahead_test.go") {
		t.Errorf("of a panic: %v", err)
	}
}
