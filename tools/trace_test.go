package tools

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestNoTracerAllocatesNothing checks that a request without a tracer allocates nothing for
// tracing.
func TestNoTracerAllocatesNothing(t *testing.T) { //nolint:paralleltest // allocations of others would be counted
	s, x := &spans{}, &exchange{}
	r := httptest.NewRequest(http.MethodPost, endpointPath, nil)
	if got := testing.AllocsPerRun(100, func() {
		if s.start(r, x) != r {
			t.Error("the request was changed")
		}
		x.failSpan(causeCallerGone)
		s.end(x)
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// TestTraceableID checks that an id gets into a span only if it is short and cannot be an
// email address or a sentence.
func TestTraceableID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		`7`: "7", `-7`: "-7", `"call-7"`: "call-7", ``: "", `""`: "", `"a b"`: "", `"ann@example.com"`: "", `"é"`: "",
		`"0123456789012345678901234567890123456789012345678901234567890123"`:  "0123456789012345678901234567890123456789012345678901234567890123",
		`"01234567890123456789012345678901234567890123456789012345678901234"`: "",
	} {
		if got := traceableID(jsontext.Value(id)); got != want {
			t.Errorf("%s: %q", id, got)
		}
	}
}
