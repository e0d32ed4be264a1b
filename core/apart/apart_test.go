package apart_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/apart"
)

func TestRunWaitsForTheEnd(t *testing.T) {
	t.Parallel()
	ran := false
	apart.Run(func() { ran = true })
	if !ran {
		t.Error("Run returned before the function had run")
	}
}

func TestPanicsContinueInTheCaller(t *testing.T) {
	t.Parallel()
	const cause = "cause"
	defer func() {
		if v := recover(); v != cause {
			t.Errorf("panic %v, want %v", v, cause)
		}
	}()
	apart.Run(func() { panic(cause) })
	t.Error("Run returned after a panic")
}
