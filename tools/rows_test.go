package tools_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// row is a request and the refusal that it must get at every protocol revision. Other tests
// cover refusals that depend on the revision.
type row struct {
	name   string
	ask    func(revision string) ask
	status int
	code   core.Code // the code of a problem document
	rpc    int64     // the code of a JSON-RPC error; 0 for a problem document
}

func raw(body string) func(string) ask {
	return func(revision string) ask {
		a := rpc(revision, "tools/list", nil)
		a.body = body
		return a
	}
}

func lookup(revision string) ask {
	return call(revision, "contacts_lookup", map[string]any{"email": "ann@example.com"})
}

var rows = []row{
	{"GET", func(r string) ask { return ask{method: "GET", revision: r} }, 405, core.CodeMethodNotAllowed, 0},
	{"DELETE", func(r string) ask { return ask{method: "DELETE", revision: r} }, 405, core.CodeMethodNotAllowed, 0},
	{"an API key", func(r string) ask { return lookup(r).withToken(access.MintAPIKey(core.Live).Secret) }, 400, core.CodeWrongHost, 0},
	{"no token", func(r string) ask { return lookup(r).withToken("-") }, 401, core.CodeInvalidKey, 0},
	{"an unknown token", func(r string) ask { return lookup(r).withToken("stranger") }, 401, core.CodeInvalidKey, 0},
	{"a missing scope", func(r string) ask { return call(r, "contacts_upsert", nil).withToken("reader") }, 403, core.CodeInvalidScope, 0},
	{"another origin", func(r string) ask { return lookup(r).with("Origin", stranger) }, 403, core.CodeValidationFailed, 0},
	{"two origins", func(r string) ask { return lookup(r).with("Origin", inspector+"\n"+inspector) }, 403, core.CodeValidationFailed, 0},
	{"a batch", raw(`[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`), 400, core.CodeValidationFailed, 0},
	{"an empty batch", raw(`[]`), 400, core.CodeValidationFailed, 0},
	{"another media type", func(r string) ask { return lookup(r).with("Content-Type", "text/plain") }, 415, core.CodeValidationFailed, 0},
	{"no JSON taken", func(r string) ask { return lookup(r).with("Accept", "text/event-stream") }, 406, core.CodeValidationFailed, 0},
	{"over 1 MiB", raw(strings.Repeat(" ", 1<<20) + "{}"), 413, core.CodeValidationFailed, 0},
	{"no JSON", raw(`{"jsonrpc":`), 400, "", -32700},
	{"a fraction for an id", raw(`{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`), 400, "", -32600},
	{"null for an id", raw(`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`), 400, "", -32600},
	{"a key twice", raw(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":1,"a":2}}`), 400, "", -32600},
	{"a key in another case", raw(`{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"tools/call"}`), 400, "", -32600},
	{"70 deep", raw(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}}`), 400, "", -32600},
	{"a call without an id", raw(`{"jsonrpc":"2.0","method":"tools/list"}`), 400, "", -32600},
	{"an unknown revision", func(r string) ask { return lookup(r).with("MCP-Protocol-Version", "1999-12-31") }, 400, "", -32022},
	{"two revisions", func(r string) ask { return lookup(r).with("MCP-Protocol-Version", r+"\n"+r) }, 400, "", -32020},
	{"a panic on the way", func(r string) ask { return lookup(r).withToken("panic") }, 500, core.CodeInternalError, 0},
}

func TestRefusalsAtEveryRevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, revision := range allRevisions {
		for _, c := range rows {
			t.Run(revision+"/"+c.name, func(t *testing.T) {
				r := w.send(c.ask(revision))
				if c.rpc != 0 {
					r.wantRPCError(t, c.status, c.rpc)
				} else {
					r.wantProblem(t, c.status, c.code)
				}
				challenge := r.header.Get("WWW-Authenticate")
				wanted := c.status == http.StatusUnauthorized || c.code == core.CodeInvalidScope
				if strings.Contains(challenge, "resource_metadata=") != wanted {
					t.Errorf("challenge %q", challenge)
				}
			})
		}
		lookup(revision).want(w)
	}
	if w.ops.upserts.Load() != 0 {
		t.Error("a refused call was carried out")
	}
}

// want sends the request and fails the test unless its tool succeeds. It shows that the
// endpoint still works after refusals.
func (a ask) want(w *world) {
	w.t.Helper()
	if got := w.send(a).result(w.t); got.Result.IsError {
		w.t.Errorf("%+v", got.Result)
	}
}

// TestAnAnswerIsJSONUnlessThereIsProgress checks that a call with a progress token is
// answered with JSON, not with events, if the tool reports no progress.
func TestAnAnswerIsJSONUnlessThereIsProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, revision := range allRevisions {
		a := rpc(revision, "tools/call", map[string]any{
			"name": "contacts_lookup", "arguments": map[string]any{"email": "ann@example.com"}, "_meta": map[string]any{"progressToken": 1},
		})
		if r := w.send(a); r.header.Get("Content-Type") != "application/json" || r.status != http.StatusOK {
			t.Errorf("%s: %d %v %s", revision, r.status, r.header, r.body)
		}
	}
}
