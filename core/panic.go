package core

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// PanicText returns the text of a recovered panic for the log, with the stack. It repeats
// the panic's own words only for errors of the Go runtime, which hold no data of callers. Of
// any other value it returns the type, since a text may hold addresses. The deferred
// function that recovered must call it.
func PanicText(v any) string { return PanicCause(v) + "\n" + string(debug.Stack()) }

// PanicCause is [PanicText] without the stack, for code that gets the value from another
// recovering function.
func PanicCause(v any) string {
	if e, ok := v.(runtime.Error); ok {
		return e.Error()
	}
	return fmt.Sprintf("a value of type %T", v)
}
