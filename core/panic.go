package core

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// PanicText returns the text of a recovered panic for the log, with the stack. It includes
// the panic's own message only for errors of the Go runtime, which contain no data of
// callers. For any other value it has only the type, because a text may contain addresses.
// Call it in the deferred function that recovered.
func PanicText(v any) string { return PanicCause(v) + "\n" + string(debug.Stack()) }

// PanicCause is [PanicText] without the stack, for code that gets the value from another
// recovering function.
func PanicCause(v any) string {
	if e, ok := v.(runtime.Error); ok {
		return e.Error()
	}
	return fmt.Sprintf("a value of type %T", v)
}
