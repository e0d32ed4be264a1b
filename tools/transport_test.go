package tools

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestOnlyErrorsMeantForTheWireReachIt(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := &Server{cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	meant := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid"}
	for name, tc := range map[string]struct {
		cause    error
		revision string
		status   int
		code     int64
		message  string
	}{
		"meant":        {meant, revision20260728, http.StatusBadRequest, -32602, "invalid"},
		"meant, older": {meant, revision20250326, http.StatusOK, -32602, "invalid"},
		"wrapped":      {fmt.Errorf("into a *mcp.Params: %w", meant), revision20260728, http.StatusOK, -32603, "on our side"},
		"any other":    {errors.New("*mcp.Params"), revision20260728, http.StatusOK, -32603, "on our side"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		x := &exchange{requestID: "trace-1", message: message{id: []byte("1"), revision: tc.revision}}
		got, ok := errors.AsType[*rpcError](s.sdkError(r, x, tc.cause))
		if !ok || got.status != tc.status || got.code != tc.code || !strings.Contains(got.message, tc.message) || strings.Contains(got.message, "mcp.") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if !strings.Contains(log.String(), "*mcp.Params") || !strings.Contains(log.String(), "trace-1") {
		t.Errorf("the cause is not in the log: %s", log.String())
	}
}
