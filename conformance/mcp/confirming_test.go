package mcp_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/standin"
	"github.com/mailhelm/mailhelm/core"
)

// confirming is an agent endpoint with one tool that needs confirmation. It has a real
// database and the product's own checks of calls. sent counts the executions of the tool.
type confirming struct {
	url  string
	sent atomic.Int64
}

func startConfirming(t *testing.T) *confirming {
	t.Helper()
	c := &confirming{}
	c.url = standin.Serve(t, standin.Config{Operations: []core.Operation{c.send()}})
	return c
}

type broadcastIn struct {
	ID string `json:"broadcast_id" jsonschema_description:"The broadcast."`
}

type broadcastOut struct {
	Status string `json:"status"`
}

func (c *confirming) send() core.Operation {
	return core.Declare(core.Op[broadcastIn, broadcastOut]{
		Name: "broadcasts_send", Title: "Send a broadcast", Purpose: "Sends a broadcast.", Effect: core.Destroys,
		Scopes: []core.Scope{core.BroadcastsManage},
		Confirm: func(context.Context, *core.Call, broadcastIn) (*core.Confirmation, error) {
			return &core.Confirmation{Message: "This sends the broadcast to 1204 people.", Preview: map[string]int{"recipients": 1204}}, nil
		},
		Do: func(context.Context, *core.Call, broadcastIn) (broadcastOut, error) {
			c.sent.Add(1)
			return broadcastOut{Status: "sending"}, nil
		},
	})
}

// TestAPersonConfirmsByForm checks that a client library that supports forms (MCP
// elicitation) shows the confirmation form to a person. The library itself must send the
// person's answer to the server, so that the program calls the tool only once. The tool may
// be executed only if the person agrees.
func TestAPersonConfirmsByForm(t *testing.T) {
	t.Parallel()
	for library, connect := range libraries {
		for _, tc := range []struct {
			name   string
			person person
			status string
			sent   int64
		}{
			{"agrees", func() (string, map[string]any) { return "accept", map[string]any{"confirm": true} }, "sending", 1},
			{"says no", func() (string, map[string]any) { return "accept", map[string]any{"confirm": false} }, "declined", 0},
			{"declines", func() (string, map[string]any) { return "decline", nil }, "declined", 0},
			{"cancels", func() (string, map[string]any) { return "cancel", nil }, "declined", 0},
		} {
			t.Run(library+"/"+tc.name, func(t *testing.T) {
				t.Parallel()
				c := startConfirming(t)
				a := connect(t, c.url+"/mcp", standin.Token, modern, tc.person)
				got, err := a.call(t, "broadcasts_send", map[string]any{"broadcast_id": "b1"}, nil)
				if err != nil || got.Failed || got.Value["status"] != tc.status || c.sent.Load() != tc.sent {
					t.Errorf("%+v, %v, sent %d", got, err, c.sent.Load())
				}
			})
		}
	}
}

// TestOtherClientsConfirmByToken checks that a client that does not support forms gets a
// confirmation token. A second call with this token must be executed.
func TestOtherClientsConfirmByToken(t *testing.T) {
	t.Parallel()
	for library, connect := range libraries {
		for _, revision := range revisions {
			t.Run(library+"/"+revision, func(t *testing.T) {
				t.Parallel()
				c := startConfirming(t)
				a := connect(t, c.url+"/mcp", standin.Token, revision, nil)
				first, err := a.call(t, "broadcasts_send", map[string]any{"broadcast_id": "b1"}, nil)
				if err != nil || first.Failed || first.Value["confirmation_required"] != true || c.sent.Load() != 0 {
					t.Fatalf("%+v, %v, sent %d", first, err, c.sent.Load())
				}
				token := first.Value["confirmation_token"]
				second, err := a.call(t, "broadcasts_send", map[string]any{"broadcast_id": "b1", "confirmation_token": token}, nil)
				if err != nil || second.Failed || second.Value["status"] != "sending" || c.sent.Load() != 1 {
					t.Errorf("%+v, %v, sent %d", second, err, c.sent.Load())
				}
			})
		}
	}
}
