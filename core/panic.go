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
func PanicText(v any) string {
	what := fmt.Sprintf("a value of type %T", v)
	if e, ok := v.(runtime.Error); ok {
		what = e.Error()
	}
	return what + "\n" + string(debug.Stack())
}
