package core

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// PanicText says in a log what a recovered panic was and where. Its own words are
// there only when they are the run time's, which repeat nothing that anybody sent;
// of any other value there is its type, because texts may hold addresses. It is
// called by the deferred function that recovered.
func PanicText(v any) string { return PanicCause(v) + "\n" + string(debug.Stack()) }

// PanicCause is [PanicText] without where it was, for whoever was told of a panic and
// recovered none.
func PanicCause(v any) string {
	if e, ok := v.(runtime.Error); ok {
		return e.Error()
	}
	return fmt.Sprintf("a value of type %T", v)
}
