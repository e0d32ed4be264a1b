package tools

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/tools/rpc"
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
		"meant":        {meant, "2026-07-28", http.StatusBadRequest, -32602, "invalid"},
		"meant, older": {meant, "2025-03-26", http.StatusOK, -32602, "invalid"},
		"wrapped":      {fmt.Errorf("into a *mcp.Params: %w", meant), "2026-07-28", http.StatusOK, -32603, "on our side"},
		"any other":    {errors.New("*mcp.Params"), "2026-07-28", http.StatusOK, -32603, "on our side"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		x := &exchange{requestID: "trace-1", message: rpc.Message{ID: []byte("1"), Revision: tc.revision}}
		got, ok := errors.AsType[*rpc.Error](s.sdkError(r, x, tc.cause))
		if !ok || got.Status != tc.status || got.Code != tc.code || !strings.Contains(got.Message, tc.message) || strings.Contains(got.Message, "mcp.") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if !strings.Contains(log.String(), "*mcp.Params") || !strings.Contains(log.String(), "trace-1") {
		t.Errorf("the cause is not in the log: %s", log.String())
	}
}
