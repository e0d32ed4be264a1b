package tools

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestConnectionLastsForOneRequest(t *testing.T) {
	t.Parallel()
	request := &jsonrpc.Request{Method: "ping"}
	c := newConnection()
	c.incoming <- request
	if got, err := c.Read(t.Context()); err != nil || got != request {
		t.Errorf("first read: %v, %v", got, err)
	}
	id, err := jsonrpc.MakeID("of the SDK")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(t.Context(), &jsonrpc.Request{ID: id, Method: "elicitation/create"}); err != nil {
		t.Errorf("a request to the client broke the connection: %v", err)
	}
	if m, err := c.Read(t.Context()); err != nil || m.(*jsonrpc.Response).ID != id || m.(*jsonrpc.Response).Error == nil {
		t.Errorf("a request to the client was answered %v, %v", m, err)
	}
	for _, method := range []string{notificationProgress, "notifications/message", "notifications/unheard_of"} {
		if err := c.Write(t.Context(), &jsonrpc.Request{Method: method}); err != nil {
			t.Errorf("%s, which no client follows, broke the connection: %v", method, err)
		}
	}
	answer := new(jsonrpc.Response)
	if err := c.Write(t.Context(), answer); err != nil || <-c.answer != answer {
		t.Errorf("the answer did not come through: %v", err)
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("read after close: %v", err)
	}
}

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
		x := &exchange{requestID: "trace-1", revision: tc.revision, message: message{id: []byte("1")}}
		got, ok := errors.AsType[*rpcError](s.sdkError(r, x, tc.cause))
		if !ok || got.status != tc.status || got.code != tc.code || !strings.Contains(got.message, tc.message) || strings.Contains(got.message, "mcp.") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if !strings.Contains(log.String(), "*mcp.Params") || !strings.Contains(log.String(), "trace-1") {
		t.Errorf("the cause is not in the log: %s", log.String())
	}
}
