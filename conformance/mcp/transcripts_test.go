package mcp_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/conformance/standin"
)

// kinds are the transcripts that exist for every revision: a name, an introduction, and the
// function that sends the requests.
var kinds = []struct {
	name  string
	prose string
	run   func(w *wire, p *product.Product)
}{
	{"success", `The client learns what it talks to, without a session, and a tool answers. The
text of a result is its structured content as compact JSON; the request's id is
in _meta (basic/lifecycle, server/tools).`, success},
	{"tool error", `What a tool refuses or cannot do is a result with isError, so that the model
sees it: the problem document with message and hint, and both as a sentence
(server/tools, error handling).`, toolError},
	{"protocol error", `What the protocol has a code for is a JSON-RPC error: a tool, method or resource
that is not there, a revision that is not served, from 2026-07-28 on a header that
says otherwise than the body, JSON that is none, an id that is no id. Each has a
status of its own at 2026-07-28; before, a request that could be read is answered
with 200 (basic/transports).`, protocolError},
	{"refusal", `What concerns HTTP is a problem document (RFC 7807): another method, no token,
an API key, a scope that is missing, a batch, another media type. A 401 says where
to get a token (RFC 9728 section 5.1), a 403 which scopes to ask for (RFC 6750
section 3.1).`, refusal},
	{"replay", `A write with an idempotency key happens once: the second answer is the first
one's, with a stamp in _meta. The key with other arguments is a conflict.`, replay},
}

func TestGoldenTranscripts(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	addresses := strings.NewReplacer(p.MCPURL, "{mcp_url}", p.DocsURL, "{docs_url}", p.AuthURL, "{auth_url}")
	token := p.Token(t, p.MCPURL)
	for _, revision := range revisions {
		for _, kind := range kinds {
			t.Run(revision+"/"+kind.name, func(t *testing.T) {
				t.Parallel()
				w := &wire{t: t, url: p.MCPURL, revision: revision, token: token, http: p.HTTP, replace: addresses}
				kind.run(w, p)
				w.compareTranscript(kind.name, kind.prose)
			})
		}
		t.Run(revision+"/confirmation", func(t *testing.T) {
			t.Parallel()
			c := startConfirming(t)
			w := &wire{
				t: t, url: c.url, revision: revision, token: standin.Token, http: p.HTTP,
				replace: strings.NewReplacer(c.url, "{mcp_url}", "http://app.test/docs", "{docs_url}"),
			}
			confirmation(w)
			if c.sent.Load() != 1 {
				t.Errorf("sent %d times", c.sent.Load())
			}
		})
	}
}

func call(tool string, arguments map[string]any) exchange {
	return exchange{method: "tools/call", params: map[string]any{"name": tool, "arguments": arguments}}
}

func success(w *wire, _ *product.Product) {
	if w.revision == modern {
		w.send(exchange{method: "server/discover"})
	} else {
		w.send(exchange{method: "initialize", params: map[string]any{
			"protocolVersion": w.revision, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "client", "version": "1"},
		}})
		w.send(exchange{method: "notifications/initialized", silent: true})
		w.send(exchange{method: "ping"})
	}
	w.send(call("lists_list", map[string]any{"query": "news"}))
}

func toolError(w *wire, _ *product.Product) {
	w.send(call("contacts_lookup", map[string]any{"email": "nobody@example.com"}))
	w.send(call("contacts_lookup", map[string]any{"emial": "nobody@example.com"}))
}

func protocolError(w *wire, _ *product.Product) {
	w.send(call("contacts_erase", nil))
	w.send(exchange{method: "prompts/list"})
	w.send(exchange{method: "resources/read", params: map[string]any{"uri": "file:///x"}, header: map[string]string{"Mcp-Name": "file:///x"}})
	w.send(exchange{method: "tools/list", header: map[string]string{"Mcp-Protocol-Version": "2023-01-01"}})
	if w.revision == modern {
		w.send(exchange{method: "tools/list", header: map[string]string{"Mcp-Method": "tools/call"}})
	}
	w.send(exchange{body: `{"jsonrpc":"2.0","id":1,`})
	w.send(exchange{body: `{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`})
}

func refusal(w *wire, p *product.Product) {
	w.send(exchange{verb: "GET"})
	w.send(exchange{method: "tools/list", token: "-"})
	// a token for the public API, which the agent endpoint must refuse
	w.send(exchange{method: "tools/list", token: p.Token(w.t, p.BaseURL)})
	w.send(exchange{method: "tools/list", token: p.Live.APIKey})
	narrow := call("audience_get_schema", nil)
	narrow.token = p.Token(w.t, p.MCPURL, "api.contacts.view")
	w.send(narrow)
	w.send(exchange{body: `[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`})
	w.send(exchange{method: "tools/list", header: map[string]string{"Content-Type": "text/plain"}})
}

func replay(w *wire, _ *product.Product) {
	address := "replay." + w.revision + "@example.com"
	upsert := func(attributes map[string]any) exchange {
		x := call("contacts_upsert", map[string]any{"email": address, "attributes": attributes})
		x.params["_meta"] = map[string]any{"dev.service/idempotencyKey": "key-" + w.revision}
		return x
	}
	w.send(upsert(map[string]any{"first_name": "Ann"}))
	w.send(upsert(map[string]any{"first_name": "Ann"}))
	w.send(upsert(map[string]any{"first_name": "Bea"}))
}

func confirmation(w *wire) {
	ask := call("broadcasts_send", map[string]any{"broadcast_id": "b1"})
	again := call("broadcasts_send", map[string]any{"broadcast_id": "b1"})
	if w.revision == modern {
		forms := map[string]any{"elicitation": map[string]any{"form": map[string]any{}}}
		ask.client, again.client = forms, forms
		again.params["inputResponses"] = map[string]any{"confirm": map[string]any{"action": "accept", "content": map[string]any{"confirm": true}}}
		ask.onReply = func(result map[string]any) { again.params["requestState"] = result["requestState"] }
	} else {
		ask.onReply = func(result map[string]any) {
			token := result["structuredContent"].(map[string]any)["confirmation_token"]
			again.params["arguments"] = map[string]any{"broadcast_id": "b1", "confirmation_token": token}
		}
	}
	w.send(ask)
	w.send(again)
	prose := `What cannot be taken back takes two calls. The client shows no form, so the first
answer carries what would happen and a token; the second call is the first with
the token as an argument.`
	if w.revision == modern {
		prose = `What cannot be taken back takes two calls. The client shows forms, so the first
answer asks for one; the second call carries the person's answer and the request
state, which is signed for this call and this consequence (client/elicitation).`
	}
	w.compareTranscript("confirmation", prose)
}
