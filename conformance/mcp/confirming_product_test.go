package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// broadcastProduct is a running product with a list, to which the tests send broadcasts.
type broadcastProduct struct {
	p      *product.Product
	people int // number of contacts on the list
}

func startBroadcastProduct(t *testing.T, postgres bool) *broadcastProduct {
	t.Helper()
	r := &broadcastProduct{p: product.Start(t, product.Options{Postgres: postgres})}
	r.p.AwaitJob(t, channels.SyncArgs{}.Kind()) // it copies the verified domain, from which mail is sent
	r.post(t, "/v1/lists", map[string]any{"name": "Confirmed"})
	r.addPerson(t)
	return r
}

// post creates an object by the API and returns it.
func (r *broadcastProduct) post(t *testing.T, path string, body map[string]any) map[string]any {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	got := r.p.Send(t, product.Request{Method: http.MethodPost, URL: r.p.BaseURL + path, Bearer: r.p.Live.APIKey, Body: string(text)})
	var made map[string]any
	if got.Status != http.StatusCreated || json.Unmarshal([]byte(got.Body), &made) != nil {
		t.Fatalf("%s: %d %s", path, got.Status, got.Body)
	}
	return made
}

// draft creates a broadcast to the list, and returns its id.
func (r *broadcastProduct) draft(t *testing.T, name string) string {
	t.Helper()
	made := r.post(t, "/v1/broadcasts", map[string]any{
		"name": name, "html": "<p>Hello</p>", "subject": "Hello", "audience_kind": "list", "audience_id": "confirmed", "topic_id": "offers",
	})
	return made["id"].(string)
}

// addPerson adds a contact to the list, which changes what a send would do.
func (r *broadcastProduct) addPerson(t *testing.T) {
	t.Helper()
	r.people++
	r.post(t, "/v1/contacts", map[string]any{"email": fmt.Sprintf("confirmed.%d@example.com", r.people), "lists": map[string]any{"add": []string{"confirmed"}}})
}

// times returns how often the broadcast was sent: the number of lines about it in the audit
// log. It fails the test if the state of the broadcast does not agree.
func (r *broadcastProduct) times(t *testing.T, id string) int {
	t.Helper()
	sent := r.audited(t)[id]
	found, err := r.p.DB.Broadcasts().Broadcast(t.Context(), r.p.OrgID, id)
	if err != nil {
		t.Fatal(err)
	}
	if (found.State == broadcasts.Draft) != (sent == 0) {
		t.Errorf("%s is %s, with %d lines in the audit log", found.Name, found.State, sent)
	}
	return sent
}

// audited returns the numbers of lines in the audit log about sends, by broadcast id.
func (r *broadcastProduct) audited(t *testing.T) map[string]int {
	t.Helper()
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
	return audited
}

// TestTheTwoStepsInTheProduct sends broadcasts in the two steps of a confirmation over HTTP:
// with each client, at each revision of MCP, on both databases.
func TestTheTwoStepsInTheProduct(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
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
			name := library + " " + revision
			t.Log(name)
			r.confirm(t, connect(t, r.p.MCPURL+"/mcp", r.p.Token(t, r.p.MCPURL), revision, nil), name)
		}
	}
	r.byForm(t)
	r.refused(t)
	audited := r.audited(t)
	for id, n := range audited {
		if n != 1 || r.times(t, id) != 1 {
			t.Errorf("%s was sent %d times", id, n)
		}
	}
	if len(audited) != len(all)*len(revisions)+len(libraries) {
		t.Errorf("audited %v", audited)
	}
}

// repetition is slightly longer than five minutes. Within five minutes, a call identical to
// an earlier one gets the earlier result.
const repetition = 5*time.Minute + time.Second

// confirm calls the tool, confirms the call, and checks that the broadcast is sent once. A
// confirmation token must be refused if the preview has changed. After the send, the same
// call must be refused because the broadcast is no draft any more.
func (r *broadcastProduct) confirm(t *testing.T, a agent, name string) {
	t.Helper()
	id := r.draft(t, name)
	step := func(confirmation any) outcome {
		t.Helper()
		arguments := map[string]any{"broadcast_id": id}
		if confirmation != nil {
			arguments["confirmation_token"] = confirmation
		}
		got, err := a.call(t, "broadcasts_send", arguments, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return got
	}
	first := step(nil)
	outdated := first.Value["confirmation_token"]
	if first.Failed || first.Value["confirmation_required"] != true || outdated == nil || r.times(t, id) != 0 {
		t.Fatalf("%s: %+v, sent %d", name, first, r.times(t, id))
	}
	r.addPerson(t)
	if got := step(outdated); !got.Failed || got.Value["code"] != "confirmation_invalid" || got.Value["preview"] == nil || r.times(t, id) != 0 {
		t.Errorf("%s: what was confirmed has changed: %+v, sent %d", name, got, r.times(t, id))
	}
	r.p.Clock.Advance(repetition) // sooner, an identical call would be answered with the first call's result
	confirmation := step(nil).Value["confirmation_token"]
	if got := step(confirmation); got.Failed || got.Value["status"] != "sending" || r.times(t, id) != 1 {
		t.Errorf("%s: %+v, sent %d", name, got, r.times(t, id))
	}
	r.p.Clock.Advance(repetition)
	if got := step(confirmation); !got.Failed || got.Value["code"] != "conflict" || r.times(t, id) != 1 {
		t.Errorf("%s: the token twice: %+v, sent %d", name, got, r.times(t, id))
	}
}

// byForm checks a client that supports forms. The client must ask its user with the
// server's form. The tool may be executed only if the user agrees.
func (r *broadcastProduct) byForm(t *testing.T) {
	t.Helper()
	token := r.p.Token(t, r.p.MCPURL)
	for library, connect := range libraries {
		id := r.draft(t, library+" by form")
		for _, agrees := range []bool{false, true} {
			a := connect(t, r.p.MCPURL+"/mcp", token, modern, func() (string, map[string]any) { return "accept", map[string]any{"confirm": agrees} })
			got, err := a.call(t, "broadcasts_send", map[string]any{"broadcast_id": id}, nil)
			if (r.times(t, id) == 1) != agrees {
				t.Errorf("%s, agrees %t: sent %d times", library, agrees, r.times(t, id))
			}
			if want := map[bool]string{false: "declined", true: "sending"}[agrees]; err != nil || got.Failed || got.Value["status"] != want {
				t.Errorf("%s, agrees %t: %+v, %v", library, agrees, got, err)
			}
		}
	}
}

// refused calls broadcasts_send four times: with a token without the required scope, with a
// token of a test credential, with a token for the API, and with an API key. Each call must
// be refused, and no answer may contain a confirmation token.
func (r *broadcastProduct) refused(t *testing.T) {
	t.Helper()
	id := r.draft(t, "Refused")
	ask := tool("broadcasts_send", `{"broadcast_id":"`+id+`"}`, "")
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
	if r.times(t, id) != 0 {
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
