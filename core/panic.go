package core

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// PanicText returns the text of a recovered panic for the log, with the stack. It includes
// the panic's message only for errors of the Go runtime, which contain no data of callers.
// For any other value it includes only the type, because the message may contain email
// addresses. Call it in the deferred function that recovered.
func PanicText(v any) string { return PanicCause(v) + "\n" + string(debug.Stack()) }

// PanicCause returns the text of [PanicText] without the stack, for a panic that another
// function recovered.
func PanicCause(v any) string {
	if e, ok := v.(runtime.Error); ok {
		return e.Error()
	}
	return fmt.Sprintf("a value of type %T", v)
}
