package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/conformance/standin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
)

// signing is an agent endpoint with two tools that need confirmation. It has a real database
// and the product's own checks of calls. A caller's name is also its access token.
type signing struct {
	url     string
	db      *storage.DB
	clock   *product.Clock
	http    *http.Client
	callers map[string]core.Principal
	people  atomic.Int64 // the number of recipients that the preview of the next call reports
	sent    atomic.Int64
}

// Authenticate returns the caller whose name is the token. It fails with CodeInvalidKey for
// an unknown name.
func (s *signing) Authenticate(_ context.Context, bearer string, _ access.Resource) (core.Principal, error) {
	p, known := s.callers[bearer]
	if !known {
		return p, &core.Error{Code: core.CodeInvalidKey, Message: "The request carries no valid credential."}
	}
	return p, nil
}

// noon is the time at which a test begins. It is far from midnight, when the signing key
// changes.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func startSigning(t *testing.T, db *storage.DB) *signing {
	t.Helper()
	s := &signing{db: db, clock: product.NewClock()}
	s.clock.Freeze(noon)
	s.people.Store(12)
	mine := core.Principal{
		Org: core.Org{ID: core.NewID(), Name: "Mine", Slug: "mine", Tier: "team", RetentionDays: 90}, UserID: core.NewID(), Scopes: core.AllScopes(),
		Credential: core.Credential{Kind: core.OAuthClient, ID: core.NewID(), Name: "oc_live_mine", Environment: core.Live},
	}
	otherOrg, otherUser, otherClient := mine, mine, mine
	otherOrg.Org.ID, otherOrg.Org.Slug = core.NewID(), "other"
	otherUser.UserID, otherClient.Credential.ID = core.NewID(), core.NewID()
	s.callers = map[string]core.Principal{"mine": mine, "other-org": otherOrg, "other-user": otherUser, "other-client": otherClient}
	for _, org := range []core.Org{mine.Org, otherOrg.Org} {
		if err := db.Orgs().InsertOrg(t.Context(), org); err != nil {
			t.Fatal(err)
		}
	}
	s.url = s.serve(t)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	s.http = &http.Client{Transport: transport, Timeout: 2 * time.Minute}
	return s
}

// serve starts another endpoint over the same database, as another process would be, and
// returns its address.
func (s *signing) serve(t *testing.T) string {
	t.Helper()
	return standin.Serve(t, standin.Config{
		Operations: []core.Operation{s.tool("broadcasts_send", core.BroadcastsManage), s.tool("workflows_activate", core.WorkflowsManage)},
		DB:         s.db, Callers: s, Clock: s.clock.Now,
	})
}

type reachIn struct {
	ID   string `json:"id" jsonschema_description:"What is sent."`
	Note string `json:"note,omitempty" jsonschema_description:"Anything."`
}

func (s *signing) tool(name string, scope core.Scope) core.Operation {
	return core.Declare(core.Op[reachIn, broadcastOut]{
		Name: name, Title: "Reach people", Purpose: "Reaches people.", Effect: core.Destroys, Scopes: []core.Scope{scope},
		Confirm: func(context.Context, *core.Call, reachIn) (*core.Confirmation, error) {
			return &core.Confirmation{Message: "This reaches people.", Preview: map[string]int64{"people": s.people.Load()}}, nil
		},
		Do: func(context.Context, *core.Call, reachIn) (broadcastOut, error) {
			s.sent.Add(1)
			return broadcastOut{Status: "sending"}, nil
		},
	})
}

// attempt is one tool call with a confirmation token. If form is true, the token is sent in
// the member requestState, together with a person's consent; otherwise it is an argument of
// the tool.
type attempt struct {
	url       string // URL of the agent endpoint; "" means the endpoint that startSigning started
	caller    string
	tool      string
	arguments string // the tool's arguments as JSON, without the outer braces
	key       string
	form      bool
	token     string
	unseen    bool // the call has the request state of a form but no answer of a person to the form
	formless  bool // the client does not declare that it shows forms
}

var plain = attempt{caller: "mine", tool: "broadcasts_send", arguments: `"id":"b1","note":"é"`}

// answer has the members of a tool's answer that concern confirmations.
type answer struct {
	Error  json.RawMessage `json:"error"`
	Result struct {
		Type       string         `json:"resultType"`
		State      string         `json:"requestState"`
		Requests   map[string]any `json:"inputRequests"`
		Meta       map[string]any `json:"_meta"`
		Content    []map[string]any
		IsError    bool
		Structured map[string]any `json:"structuredContent"`
	} `json:"result"`
}

// token returns the confirmation token of the answer, from its member requestState or else
// from confirmation_token. It returns "" if the answer has neither.
func (a answer) token() string {
	if a.Result.State != "" {
		return a.Result.State
	}
	token, _ := a.Result.Structured["confirmation_token"].(string)
	return token
}

func (a answer) sent() bool { return !a.Result.IsError && a.Result.Structured["status"] == "sending" }

// refusal returns a tool error as JSON without its request id and next step, which differ
// from call to call. It returns "" if the answer is no error.
func (a answer) refusal(t *testing.T) string {
	t.Helper()
	if !a.Result.IsError {
		return ""
	}
	delete(a.Result.Structured, "request_id")
	delete(a.Result.Structured, "next_step")
	raw, err := json.Marshal([]any{a.Result.Content, a.Result.Structured})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (s *signing) call(t *testing.T, a attempt) answer {
	t.Helper()
	got, err := s.try(a)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// try sends the call and returns the answer. It may be called from any goroutine.
func (s *signing) try(a attempt) (answer, error) {
	var got answer
	body, err := a.body()
	if err != nil {
		return got, err
	}
	url := a.url
	if url == "" {
		url = s.url
	}
	r, err := http.NewRequest(http.MethodPost, url+"/mcp", bytes.NewReader(body)) //nolint:noctx // the client has a timeout
	if err != nil {
		return got, err
	}
	r.Header = http.Header{
		"Authorization": {"Bearer " + a.caller}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {revision},
	}
	if a.form {
		r.Header["Mcp-Protocol-Version"], r.Header["Mcp-Method"], r.Header["Mcp-Name"] = []string{modern}, []string{"tools/call"}, []string{a.tool}
	}
	response, err := s.http.Do(r)
	if err != nil {
		return got, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return got, err
	}
	return got, json.Unmarshal(text, &got)
}

func (a attempt) body() ([]byte, error) {
	meta, arguments := map[string]any{}, a.arguments
	params := map[string]any{"name": a.tool, "_meta": meta}
	if a.key != "" {
		meta["dev.service/idempotencyKey"] = a.key
	}
	switch {
	case a.form:
		meta["io.modelcontextprotocol/protocolVersion"] = modern
		meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{"elicitation": map[string]any{}}
		if a.formless {
			meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
		}
		if a.token != "" {
			params["requestState"] = a.token
		}
		if a.token != "" && !a.unseen {
			params["inputResponses"] = map[string]any{"confirm": map[string]any{"action": "accept", "content": map[string]any{"confirm": true}}}
		}
	case a.token != "":
		token, err := json.Marshal(a.token)
		if err != nil {
			return nil, err
		}
		arguments += `,"confirmation_token":` + string(token)
	}
	params["arguments"] = json.RawMessage("{" + strings.TrimPrefix(arguments, ",") + "}")
	return json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

// together runs f concurrently in n goroutines and waits for all of them.
func together(n int, f func(i int)) {
	var wait sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wait.Go(func() { <-start; f(i) })
	}
	close(start)
	wait.Wait()
}
