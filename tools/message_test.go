package tools_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
)

// serve calls the endpoint's handler with a body of unknown length, without a network
// connection.
func serve(w *world, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, w.url+"/mcp", body)
	r.ContentLength = -1
	r.Header.Set("Authorization", "Bearer live")
	r.Header.Set("Content-Type", "application/json")
	return handle(w, r)
}

func handle(w *world, r *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	w.server.Handler().ServeHTTP(answer, r)
	return answer
}

func TestMalformedMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, tc := range map[string]struct {
		body string
		code int64
		id   string
	}{
		"empty":                  {``, -32700, "null"},
		"not JSON":               {`{"jsonrpc":`, -32700, "null"},
		"two values":             {`{"jsonrpc":"2.0","id":1,"method":"ping"} {}`, -32700, "null"},
		"invalid UTF-8":          {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}", -32700, "null"},
		"deep":                   {strings.Repeat(`[`, 10_000), 0, ""},
		"deep in params":         {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat(`[`, 70) + strings.Repeat(`]`, 70) + `}}`, -32600, "null"},
		"10,000 deep in params":  {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat(`[`, 10_000) + strings.Repeat(`]`, 10_000) + `}}`, -32700, "null"},
		"duplicate method":       {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, -32600, "null"},
		"duplicate argument":     {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":"a@b.cc","email":"c@d.ee"}}}`, -32600, "null"},
		"NUL":                    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":"a\u0000@b.cc"}}}`, -32600, "null"},
		"wrong case":             {`{"jsonrpc":"2.0","id":1,"Method":"ping"}`, -32600, "1"},
		"wrong case beside":      {`{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/list"}`, -32600, "1"},
		"wrong case in params":   {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_lookup","Name":"contacts_archive"}}`, -32600, "1"},
		"wrong case in meta":     {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"dev.service/idempotencykey":"k"}}}`, -32600, "1"},
		"fraction id":            {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "null"},
		"exponent id":            {`{"jsonrpc":"2.0","id":1e3,"method":"ping"}`, -32600, "null"},
		"huge id":                {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, -32600, "null"},
		"null id":                {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null"},
		"boolean id":             {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600, "null"},
		"object id":              {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, "null"},
		"no version":             {`{"id":1,"method":"ping"}`, -32600, "1"},
		"old version":            {`{"jsonrpc":"1.0","id":"x","method":"ping"}`, -32600, `"x"`},
		"no method":              {`{"jsonrpc":"2.0","id":1}`, -32600, "1"},
		"numeric method":         {`{"jsonrpc":"2.0","id":1,"method":7}`, -32600, "1"},
		"a response":             {`{"jsonrpc":"2.0","id":1,"result":{}}`, -32600, "1"},
		"array params":           {`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, -32600, "1"},
		"text":                   {`"ping"`, -32600, "null"},
		"numeric name":           {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, -32602, "1"},
		"call without an id":     {`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"contacts_upsert","arguments":{"email":"a@b.cc"}}}`, -32600, "null"},
		"numeric request state":  {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_lookup","requestState":1}}`, -32602, "1"},
		"meta is text":           {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_lookup","_meta":"x"}}`, -32602, "1"},
		"huge number in version": {`{"jsonrpc":1e400,"id":1,"method":"ping"}`, -32600, "null"},
	} {
		r := w.send(ask{body: tc.body})
		if tc.code == 0 {
			r.wantProblem(t, http.StatusBadRequest, core.CodeValidationFailed)
			continue
		}
		a := r.answer(t)
		if a.Error == nil || a.Error.Code != tc.code || string(a.ID) != tc.id || r.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s, want %d with id %s", name, r.status, r.body, tc.code, tc.id)
		}
		if strings.Contains(r.body, "Go ") || strings.Contains(r.body, "mcp.") || strings.Contains(r.body, "tools.") || strings.Contains(r.body, "rpc.") {
			t.Errorf("%s: the answer speaks of the inside: %s", name, r.body)
		}
	}
	if w.ops.upserts.Load() != 0 {
		t.Error("a malformed message was carried out")
	}
}

func TestIDsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{`0`, `-7`, `9007199254740991`, `"abc"`, `""`, `"\u00e4 \"quoted\""`} {
		for _, method := range []string{"ping", "nonsense"} {
			a := w.send(ask{body: `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}`}).answer(t)
			if got, want := unquote(t, a.ID), unquote(t, []byte(id)); got != want {
				t.Errorf("%s: id %s came back as %s", method, id, a.ID)
			}
		}
	}
}

func TestNotificationsAreAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, method := range []string{"notifications/initialized", "notifications/cancelled", "notifications/unheard_of"} {
		for _, revision := range allRevisions {
			a := ask{revision: revision, body: `{"jsonrpc":"2.0","method":"` + method + `"}`, header: map[string]string{"Mcp-Method": method}}
			if r := w.send(a); r.status != http.StatusAccepted || r.body != "" {
				t.Errorf("%s at %s: %d %q", method, revision, r.status, r.body)
			}
		}
	}
}
