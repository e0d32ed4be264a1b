package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/standin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// confirmingEndpoint is an agent endpoint with three test tools. The tool broadcasts_send
// asks for confirmation, lists_list returns only a part of the items, and contacts_lookup
// returns a result that is too long. It uses the product's guardrails and a real
// database. admin is the URL of its metrics.
type confirmingEndpoint struct {
	url, admin string
	http       *http.Client
}

func startConfirmingEndpoint(t *testing.T) *confirmingEndpoint {
	t.Helper()
	registry := prometheus.NewRegistry()
	admin := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	t.Cleanup(admin.Close)
	url := standin.Serve(t, standin.Config{Operations: []core.Operation{sendOperation(), listsOperation(), longOperation()}, Metrics: registry})
	return &confirmingEndpoint{url: url, admin: admin.URL, http: admin.Client()}
}

type sendIn struct {
	ID string `json:"broadcast_id" jsonschema_description:"The broadcast."`
}

type sendOut struct {
	Status string `json:"status"`
}

func sendOperation() core.Operation {
	return core.Declare(core.Op[sendIn, sendOut]{
		Name: "broadcasts_send", Title: "Send a broadcast", Purpose: "Sends a broadcast.", Effect: core.Destroys,
		Scopes: []core.Scope{core.BroadcastsManage},
		Confirm: func(context.Context, *core.Call, sendIn) (*core.Confirmation, error) {
			return &core.Confirmation{Message: "This sends the broadcast to 1204 people.", Preview: map[string]int{"recipients": 1204}}, nil
		},
		Do: func(context.Context, *core.Call, sendIn) (sendOut, error) { return sendOut{Status: "sending"}, nil },
	})
}

func listsOperation() core.Operation {
	return core.Declare(core.Op[struct{}, core.Page[sendOut]]{
		Name: "lists_list", Title: "List the lists", Purpose: "Lists the lists.", Effect: core.Reads,
		Scopes: []core.Scope{core.ListsView},
		Do: func(context.Context, *core.Call, struct{}) (core.Page[sendOut], error) {
			return core.Page[sendOut]{Items: []sendOut{{Status: "first"}}, Total: 2}, nil
		},
	})
}

func longOperation() core.Operation {
	return core.Declare(core.Op[struct{}, sendOut]{
		Name: "contacts_lookup", Title: "Look a contact up", Purpose: "Looks a contact up.", Effect: core.Reads,
		Scopes: []core.Scope{core.ContactsView},
		Do: func(context.Context, *core.Call, struct{}) (sendOut, error) {
			return sendOut{Status: strings.Repeat("long ", 20_000)}, nil
		},
	})
}
