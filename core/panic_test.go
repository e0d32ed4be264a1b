package core_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
)

func TestPanicTextHoldsNoCallerText(t *testing.T) {
	t.Parallel()
	panicText := func(cause func()) string {
		var text string
		func() {
			defer func() { text = core.PanicText(recover()) }()
			cause()
		}()
		return text
	}
	for want, cause := range map[string]func(){
		"type string\n":              func() { panic("cannot digest jane@example.com") },
		"type *errors.errorString\n": func() { panic(errors.New("cannot digest jane@example.com")) },
		"type *fmt.wrapError\n":      func() { panic(fmt.Errorf("cannot digest jane@example.com: %w", errors.ErrUnsupported)) },
		"not string\n":               func() { var v any = 1; _ = v.(string) },
	} {
		if got := panicText(cause); !strings.Contains(got, want) || strings.Contains(got, "jane") || !strings.Contains(got, "panic_test.go") {
			t.Errorf("want %q in %s", want, got)
		}
	}
}
