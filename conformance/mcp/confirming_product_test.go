package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// broadcastProduct is a running product with an additional operation that needs
// confirmation, broadcasts_send. That operation sends no mail and only counts its
// executions. Its calls pass the guardrails, listeners and token checks of the product.
type broadcastProduct struct {
	p *product.Product

	mu     sync.Mutex
	people int            // how many recipients the preview of the next call names
	sent   map[string]int // the number of executed calls, by broadcast id
}

func startBroadcastProduct(t *testing.T, postgres bool) *broadcastProduct {
	t.Helper()
	r := &broadcastProduct{people: 1204, sent: map[string]int{}}
	r.p = product.Start(t, product.Options{Postgres: postgres, Operations: []core.Operation{r.send()}})
	return r
}

func (r *broadcastProduct) send() core.Operation {
	return core.Declare(core.Op[broadcastIn, broadcastOut]{
		Name: "broadcasts_send", Title: "Send a broadcast", Purpose: "Sends a broadcast.", Effect: core.Destroys,
		Scopes: []core.Scope{core.BroadcastsManage},
		Confirm: func(context.Context, *core.Call, broadcastIn) (*core.Confirmation, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return &core.Confirmation{Message: "This sends the broadcast.", Preview: map[string]int{"recipients": r.people}}, nil
		},
		Do: func(_ context.Context, c *core.Call, in broadcastIn) (broadcastOut, error) {
			c.SetSubject(in.ID)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.sent[in.ID]++
			return broadcastOut{Status: "sending"}, nil
		},
	})
}

func (r *broadcastProduct) times(id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent[id]
}

func (r *broadcastProduct) addPerson() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.people++
}

// TestTheTwoStepsInTheProduct checks both steps of a confirmation over HTTP: with each
// client, at each revision of MCP, on both databases. The product has no operation that
// needs confirmation yet, so the test declares one.
func TestTheTwoStepsInTheProduct(t *testing.T) {
	t.Parallel()
	storagetest.EachEngine(t, func(t *testing.T, postgres bool) {
		checkBothSteps(t, startBroadcastProduct(t, postgres))
	})
}

func checkBothSteps(t *testing.T, r *broadcastProduct) {
	t.Helper()
	all := map[string]func(t *testing.T, endpoint, token, revision string, answer person) agent{"raw": connectRaw}
	for library, connect := range libraries {
		all[library] = connect
	}
	for library, connect := range all {
		for _, revision := range revisions {
			id := library + " " + revision
			t.Log(id)
			r.confirm(t, connect(t, r.p.MCPURL+"/mcp", r.p.Token(t, r.p.MCPURL), revision, nil), id)
		}
	}
	r.byForm(t)
	r.refused(t)
	events, err := r.p.DB.Audit().FindAudit(t.Context(), r.p.OrgID, access.AuditFilter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	audited := map[string]int{}
	for _, e := range events {
		if e.Action == "broadcasts_send" {
			audited[e.SubjectID]++
		}
	}
	for id, n := range r.sent {
		if n != 1 || audited[id] != 1 {
			t.Errorf("%s was sent %d times, with %d lines in the audit log", id, n, audited[id])
		}
	}
	if len(r.sent) != len(audited) || len(r.sent) != len(all)*len(revisions)+len(libraries) {
		t.Errorf("sent %v, audited %v", r.sent, audited)
	}
}

// repetition is slightly longer than five minutes. Within five minutes, a call identical to
// an earlier one gets the earlier result.
const repetition = 5*time.Minute + time.Second

// confirm calls the tool, confirms the call, and checks that the broadcast is sent once. A
// confirmation token must be refused if the preview has changed, and also if the token was
// used before.
func (r *broadcastProduct) confirm(t *testing.T, a agent, id string) {
	t.Helper()
	step := func(confirmation any) outcome {
		t.Helper()
		arguments := map[string]any{"broadcast_id": id}
		if confirmation != nil {
			arguments["confirmation_token"] = confirmation
		}
		got, err := a.call(t, "broadcasts_send", arguments, nil)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		return got
	}
	first := step(nil)
	outdated := first.Value["confirmation_token"]
	if first.Failed || first.Value["confirmation_required"] != true || outdated == nil || r.times(id) != 0 {
		t.Fatalf("%s: %+v, sent %d", id, first, r.times(id))
	}
	r.addPerson()
	if got := step(outdated); !got.Failed || got.Value["code"] != "confirmation_invalid" || got.Value["preview"] == nil || r.times(id) != 0 {
		t.Errorf("%s: what was confirmed has changed: %+v, sent %d", id, got, r.times(id))
	}
	r.p.Clock.Advance(repetition) // sooner, an identical call would be answered with the first call's result
	confirmation := step(nil).Value["confirmation_token"]
	if got := step(confirmation); got.Failed || got.Value["status"] != "sending" || r.times(id) != 1 {
		t.Errorf("%s: %+v, sent %d", id, got, r.times(id))
	}
	r.p.Clock.Advance(repetition)
	if got := step(confirmation); !got.Failed || got.Value["code"] != "confirmation_invalid" || r.times(id) != 1 {
		t.Errorf("%s: the token twice: %+v, sent %d", id, got, r.times(id))
	}
}

// byForm checks a client that supports forms. The client must ask its user with the
// server's form. The tool may be executed only if the user agrees.
func (r *broadcastProduct) byForm(t *testing.T) {
	t.Helper()
	token := r.p.Token(t, r.p.MCPURL)
	for library, connect := range libraries {
		id := library + " by form"
		for _, agrees := range []bool{false, true} {
			a := connect(t, r.p.MCPURL+"/mcp", token, modern, func() (string, map[string]any) { return "accept", map[string]any{"confirm": agrees} })
			got, err := a.call(t, "broadcasts_send", map[string]any{"broadcast_id": id}, nil)
			if want := map[bool]string{false: "declined", true: "sending"}[agrees]; err != nil || got.Failed || got.Value["status"] != want {
				t.Errorf("%s, agrees %t: %+v, %v", id, agrees, got, err)
			}
		}
	}
}

// refused calls broadcasts_send four times: with a token without the required scope, with a
// token of a test credential, with a token for the API, and with an API key. Each call must
// be refused, and no answer may contain a confirmation token.
func (r *broadcastProduct) refused(t *testing.T) {
	t.Helper()
	ask := tool("broadcasts_send", `{"broadcast_id":"none"}`, "")
	for name, c := range map[string]struct {
		token  string
		status int
		code   string
	}{
		"no scope":           {r.p.Token(t, r.p.MCPURL, "api.broadcasts.view"), http.StatusForbidden, `"code":"invalid_scope"`},
		"a test credential":  {r.p.TokenWith(t, r.p.Test, r.p.MCPURL), http.StatusOK, `"code":"test_environment_forbidden"`},
		"a token of the API": {r.p.Token(t, r.p.BaseURL), http.StatusUnauthorized, `"code":"invalid_key"`},
		"an API key":         {r.p.Live.APIKey, http.StatusBadRequest, `"code":"wrong_host"`},
	} {
		got := rawCall(t, r.p.HTTP, r.p.MCPURL+"/mcp", c.token, revision, ask)
		if got.status != c.status || !strings.Contains(got.body, c.code) || strings.Contains(got.body, "confirmation_token") {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if r.times("none") != 0 {
		t.Error("something was sent")
	}
}

// rawAgent is a client that sends its HTTP requests without an MCP library.
type rawAgent struct {
	endpoint, token, at string
	http                *http.Client
}

func connectRaw(t *testing.T, endpoint, token, revision string, _ person) agent {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return rawAgent{endpoint, token, revision, &http.Client{Transport: transport}}
}

func (a rawAgent) revision() string         { return a.at }
func (a rawAgent) list(*testing.T) []string { return nil }

func (a rawAgent) call(t *testing.T, name string, arguments, _ map[string]any) (outcome, error) {
	t.Helper()
	params := map[string]any{"name": name, "arguments": arguments}
	if a.at == modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    modern,
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	if err != nil {
		return outcome{}, err
	}
	got := rawCall(t, a.http, a.endpoint, a.token, a.at, string(body))
	var response struct {
		Result struct {
			IsError           bool           `json:"isError"`
			StructuredContent map[string]any `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(got.body), &response); err != nil {
		return outcome{}, err
	}
	if got.status != http.StatusOK || response.Result.StructuredContent == nil {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return outcome{Failed: response.Result.IsError, Value: response.Result.StructuredContent}, nil
}

// rawCall posts a JSON-RPC message that calls broadcasts_send and returns the answer.
func rawCall(t *testing.T, client *http.Client, endpoint, token, revision, body string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {revision},
	}
	if revision == modern {
		r.Header["Mcp-Method"], r.Header["Mcp-Name"] = []string{"tools/call"}, []string{"broadcasts_send"}
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{status: response.StatusCode, header: response.Header, body: string(text)}
}
