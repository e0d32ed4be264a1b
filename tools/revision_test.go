package tools_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func unquote(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func TestUnknownRevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, revision := range []string{"2099-01-01", "2024-01-01", "newest"} {
		a := rpc(revision, "server/discover", nil)
		got := w.send(a).wantRPCError(t, http.StatusBadRequest, -32022)
		if !cmp.Equal(got.Error.Data["supported"], toAny(allRevisions)) || got.Error.Data["requested"] != revision {
			t.Errorf("%s: data %v", revision, got.Error.Data)
		}
	}
}

func toAny(words []string) any {
	list := make([]any, len(words))
	for i, word := range words {
		list[i] = word
	}
	return list
}

func TestHeadersMustMatchTheBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := call(modern, "contacts_lookup", map[string]any{"email": "ann@example.com"})
	for name, a := range map[string]ask{
		"no method header":       good.with("Mcp-Method", ""),
		"other method":           good.with("Mcp-Method", "tools/list"),
		"no name header":         good.with("Mcp-Name", ""),
		"other name":             good.with("Mcp-Name", "contacts_archive"),
		"name twice":             good.with("Mcp-Name", "contacts_lookup\ncontacts_lookup"),
		"other encoded name":     good.with("Mcp-Name", encode("contacts_archive")),
		"name badly encoded":     good.with("Mcp-Name", "=?base64?!?="),
		"revision twice":         good.with("MCP-Protocol-Version", modern+"\n"+modern),
		"other revision in head": good.with("MCP-Protocol-Version", legacy),
		"no revision in head":    good.with("MCP-Protocol-Version", ""),
	} {
		if r := w.send(a); r.answer(t).Error == nil {
			t.Errorf("%s: %s", name, r.body)
		} else {
			r.wantRPCError(t, http.StatusBadRequest, -32020)
		}
	}
	w.send(good.with("Mcp-Name", encode("contacts_lookup"))).result(t)
}

func encode(s string) string {
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

func TestModernRequestsNeedTheirMeta(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, meta := range map[string]string{
		"nothing":               `{}`,
		"no capabilities":       `{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`,
		"capabilities are text": `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":"all"}`,
		"client info is text":   `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":7}`,
	} {
		a := ask{
			revision: modern, header: map[string]string{"Mcp-Method": "tools/list"},
			body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":` + meta + `}}`,
		}
		if r := w.send(a); r.answer(t).Error == nil {
			t.Errorf("%s: %s", name, r.body)
		} else {
			r.wantRPCError(t, http.StatusBadRequest, -32602)
		}
	}
}

func TestMethodsAreAllowedByList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	unserved := []string{
		"prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/subscribe",
		"subscriptions/listen", "completion/complete", "logging/setLevel", "tasks/list", "notifications/initialized", "",
	}
	for _, revision := range allRevisions {
		methods, status := append([]string{"server/discover"}, unserved...), http.StatusOK
		if revision == modern {
			methods, status = append([]string{"initialize", "ping"}, unserved...), http.StatusNotFound
		}
		for _, method := range methods {
			w.send(rpc(revision, method, map[string]any{"name": "x", "uri": "x"})).wantRPCError(t, status, -32601)
		}
	}
}

func TestUnknownToolResourceAndCursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, revision := range allRevisions {
		status, noResource := http.StatusOK, int64(-32002)
		if revision == modern {
			status, noResource = http.StatusBadRequest, -32602
		}
		for _, name := range []string{"contacts_create", "broadcasts_compose", "no_such_tool", ""} {
			w.send(call(revision, name, nil).with("Mcp-Name", valueOr(name, "=?base64??="))).wantRPCError(t, status, -32602)
		}
		read := rpc(revision, "resources/read", map[string]any{"uri": "file:///etc/passwd"}).with("Mcp-Name", "file:///etc/passwd")
		w.send(read).wantRPCError(t, status, noResource)
		w.send(rpc(revision, "tools/list", map[string]any{"cursor": "AAAA"})).wantRPCError(t, status, -32602)
	}
}

func TestHandshake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	initialize := func(revision string) map[string]any {
		return map[string]any{"protocolVersion": revision, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "c", "version": "1"}}
	}
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-11-25": "2025-11-25", "2026-07-28": "2025-11-25", "2099-01-01": "2025-11-25",
	} {
		r := w.send(rpc("-", "initialize", initialize(asked)))
		var got struct {
			Result struct {
				ProtocolVersion string         `json:"protocolVersion"`
				Capabilities    map[string]any `json:"capabilities"`
				ServerInfo      map[string]any `json:"serverInfo"`
				Instructions    string         `json:"instructions"`
			} `json:"result"`
		}
		w.must(json.Unmarshal([]byte(r.body), &got))
		if got.Result.ProtocolVersion != want || got.Result.Instructions == "" || r.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: %s", asked, r.body)
		}
		if !cmp.Equal(got.Result.Capabilities, map[string]any{"tools": map[string]any{}}) {
			t.Errorf("capabilities %v", got.Result.Capabilities)
		}
		if !cmp.Equal(got.Result.ServerInfo, map[string]any{"name": "mailhelm", "version": "1.2.3"}) {
			t.Errorf("serverInfo %v", got.Result.ServerInfo)
		}
	}
	for _, wrong := range []map[string]any{{}, {"protocolVersion": 7}, {"protocolVersion": "2025-11-25", "capabilities": "all"}} {
		w.send(rpc("-", "initialize", wrong)).wantRPCError(t, http.StatusOK, -32602)
	}
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.send(rpc(modern, "server/discover", nil))
	var got struct {
		Result struct {
			Supported    []string       `json:"supportedVersions"`
			Capabilities map[string]any `json:"capabilities"`
			CacheScope   string         `json:"cacheScope"`
			TTL          int            `json:"ttlMs"`
		} `json:"result"`
	}
	w.must(json.Unmarshal([]byte(r.body), &got))
	if !cmp.Equal(got.Result.Supported, allRevisions) || got.Result.CacheScope != "private" || got.Result.TTL != 60_000 {
		t.Errorf("%s", r.body)
	}
	if !cmp.Equal(got.Result.Capabilities, map[string]any{"tools": map[string]any{}}) {
		t.Errorf("capabilities %v", got.Result.Capabilities)
	}
}
