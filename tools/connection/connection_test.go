package connection

import (
	"errors"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestConnectionLastsForOneRequest(t *testing.T) {
	t.Parallel()
	request := &jsonrpc.Request{Method: "ping"}
	c := New(false)
	c.Ask(request)
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
	for _, method := range []string{progressMethod, "notifications/message", "notifications/unheard_of"} {
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
