package rpc_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/tools/rpc"
)

// TestReadKeepsWhatItRead checks what a message has after Read: also after a refusal, the
// members that were read before the fault, because spans and logs name them. The tests of
// package tools check all refusals through the endpoint.
func TestReadKeepsWhatItRead(t *testing.T) {
	t.Parallel()
	const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for name, tc := range map[string]struct {
		body, headers        string
		id, method, revision string
		code                 int64 // 0 if the message is valid
		status               int
		cause                string
	}{
		"valid": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, "", "1", "tools/call", "2025-03-26", 0, 0, ""},
		"valid, modern": {
			`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x",` + modern + `}}`,
			"Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: x", `"a"`, "tools/call", "2026-07-28", 0, 0, "",
		},
		"notification":        {`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, "", "", "notifications/cancelled", "2025-03-26", 0, 0, ""},
		"not JSON":            {`{`, "", "", "", "", -32700, 400, "invalid_json"},
		"no object of params": {`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, "", "1", "ping", "", -32600, 400, "invalid_request"},
		"unknown revision":    {`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp-Protocol-Version: 2020-01-01", "1", "ping", "", -32022, 400, "unsupported_revision"},
		"headers of another":  {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: ping", "1", "tools/list", "2026-07-28", -32020, 400, "header_mismatch"},
		"unknown method":      {`{"jsonrpc":"2.0","id":1,"method":"nonsense"}`, "", "1", "nonsense", "2025-03-26", -32601, 200, "unknown_method"},
		"a resource":          {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x"}}`, "", "1", "resources/read", "2025-03-26", -32002, 200, "unknown_resource"},
		"a cursor":            {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`, "", "1", "tools/list", "2025-03-26", -32602, 200, "invalid_params"},
	} {
		header := http.Header{}
		for line := range strings.SplitSeq(tc.headers, "\n") {
			if key, value, ok := strings.Cut(line, ": "); ok {
				header.Set(key, value)
			}
		}
		var m rpc.Message
		err := m.Read([]byte(tc.body), header, new(core.AnyPaths))
		if string(m.ID) != tc.id || m.Method != tc.method || m.Revision != tc.revision {
			t.Errorf("%s: id %s, method %q, revision %q", name, m.ID, m.Method, m.Revision)
		}
		refusal, refused := errors.AsType[*rpc.Error](err)
		switch {
		case tc.code == 0 && err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.code != 0 && !refused:
			t.Errorf("%s: error %v", name, err)
		case refused && (refusal.Code != tc.code || refusal.Status != tc.status || refusal.CauseName() != tc.cause || string(refusal.ID) != tc.id):
			t.Errorf("%s: %+v, cause %s", name, refusal, refusal.CauseName())
		}
	}
}

func TestErrorBody(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]*rpc.Error{
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`:               {Code: -32700, Message: "m"},
		`{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"m","data":{"b":1}}}`: {ID: []byte(`"a"`), Code: -32602, Message: "m", Data: map[string]int{"b": 1}},
	} {
		if got := string(e.Body()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
