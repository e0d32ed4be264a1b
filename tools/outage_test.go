package tools_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// TestAnOutageIsTheServersFailure checks the answer to a call during a failure of
// Mailhelm's storage. At every protocol revision it must be a JSON-RPC error with the time
// to retry. Only the log may contain the cause.
func TestAnOutageIsTheServersFailure(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial tcp 10.0.0.7:5432: connection refused")
	w := newWorldOf(t, failing(func() error { return core.TemporarilyUnavailable(cause) }))
	for _, revision := range allRevisions {
		got := w.send(call(revision, "contacts_lookup", map[string]any{}))
		a := got.wantRPCError(t, http.StatusOK, -32603)
		if !strings.Contains(got.body, `"code":"temporarily_unavailable"`) || !strings.Contains(got.body, `"retry_after":5`) ||
			got.header.Get("Retry-After") != "5" || !strings.Contains(a.Error.Message, "Call again after") {
			t.Errorf("%s: %v %s", revision, got.header, got.body)
		}
		if strings.Contains(got.body, "10.0.0.7") {
			t.Errorf("%s tells the cause: %s", revision, got.body)
		}
	}
	if log := w.log.String(); !strings.Contains(log, "10.0.0.7") {
		t.Errorf("the log does not tell the cause: %s", log)
	}
}

// TestARefusedCallHasRetryAfter checks that a call that is refused because of
// overload gets a tool error with the time to wait before a retry.
func TestARefusedCallHasRetryAfter(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, failing(func() error { return core.Overloaded(2 * time.Second) }))
	a := w.send(call(legacy, "contacts_lookup", map[string]any{})).result(t).Result
	if !a.IsError || a.Structured["code"] != "overloaded" || a.Structured["retry_after"] != 2.0 {
		t.Errorf("%+v", a.Structured)
	}
}
