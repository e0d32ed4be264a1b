package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgotypes "github.com/mark3labs/mcp-go/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const modern = "2026-07-28"

var revisions = []string{modern, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// agent is an MCP client library that is connected to Mailhelm's agent endpoint.
type agent interface {
	// revision returns the revision of the MCP protocol on which client and server agreed.
	revision() string
	list(t *testing.T) []string
	// call calls a tool and returns its result, even if the tool failed. It returns an error
	// for a JSON-RPC error or a refusal over HTTP.
	call(t *testing.T, tool string, arguments, meta map[string]any) (outcome, error)
}

// outcome is the result of a tool call.
type outcome struct {
	Failed bool
	Text   string
	Value  map[string]any
	Meta   map[string]any
}

// person answers a form that the server sends (an elicitation). With a nil person, the
// client declares no support for forms.
type person func() (action string, content map[string]any)

// libraries has a function for each client library. The function connects to an MCP
// endpoint with an access token, at a revision of the protocol.
var libraries = map[string]func(t *testing.T, endpoint, token, revision string, answer person) agent{
	"go-sdk": connectSDK,
	"mcp-go": connectMCPGo,
}

type sdkAgent struct{ session *sdk.ClientSession }

func connectSDK(t *testing.T, endpoint, token, revision string, answer person) agent {
	t.Helper()
	options := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}
	if answer != nil {
		options.ElicitationHandler = func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			action, content := answer()
			return &sdk.ElicitResult{Action: action, Content: content}, nil
		}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "conformance", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: endpoint, HTTPClient: withBearer(t, token),
		DisableStandaloneSSE: true, MaxRetries: -1,
	}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatalf("connect at %s: %v", revision, err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return sdkAgent{session}
}

func (a sdkAgent) revision() string { return a.session.InitializeResult().ProtocolVersion }

func (a sdkAgent) list(t *testing.T) []string {
	t.Helper()
	listed, err := a.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatalf("tools/list: %v", err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func (a sdkAgent) call(t *testing.T, tool string, arguments, meta map[string]any) (outcome, error) {
	t.Helper()
	result, err := a.session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments, Meta: meta})
	if err != nil {
		return outcome{}, err
	}
	value, _ := result.StructuredContent.(map[string]any)
	return outcome{result.IsError, result.Content[0].(*sdk.TextContent).Text, value, result.Meta}, nil
}

type mcpGoAgent struct {
	client *mcpgo.Client
	agreed string
}

// Elicit implements the elicitation handler of mcp-go. It answers every form with the
// action and content that the function p returns.
func (p person) Elicit(context.Context, mcpgotypes.ElicitationRequest) (*mcpgotypes.ElicitationResult, error) {
	action, content := p()
	return &mcpgotypes.ElicitationResult{ElicitationResponse: mcpgotypes.ElicitationResponse{
		Action: mcpgotypes.ElicitationResponseAction(action), Content: content,
	}}, nil
}

func connectMCPGo(t *testing.T, endpoint, token, revision string, answer person) agent {
	t.Helper()
	wire, err := transport.NewStreamableHTTP(endpoint, transport.WithHTTPBasicClient(withBearer(t, token)))
	if err != nil {
		t.Fatal(err)
	}
	options := []mcpgo.ClientOption{mcpgo.WithProtocolVersion(revision)}
	if answer != nil {
		options = append(options, mcpgo.WithElicitationHandler(answer))
	}
	client := mcpgo.NewClient(wire, options...)
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var hello mcpgotypes.InitializeRequest
	hello.Params.ProtocolVersion = revision
	hello.Params.ClientInfo = mcpgotypes.Implementation{Name: "conformance", Version: "1"}
	agreed, err := client.Initialize(t.Context(), hello)
	if err != nil {
		t.Fatalf("connect at %s: %v", revision, err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return mcpGoAgent{client, agreed.ProtocolVersion}
}

func (a mcpGoAgent) revision() string { return a.agreed }

func (a mcpGoAgent) list(t *testing.T) []string {
	t.Helper()
	listed, err := a.client.ListTools(t.Context(), mcpgotypes.ListToolsRequest{})
	if err != nil {
		t.Fatalf("tools/list: %v", err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func (a mcpGoAgent) call(t *testing.T, tool string, arguments, meta map[string]any) (outcome, error) {
	t.Helper()
	var request mcpgotypes.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, arguments
	if meta != nil {
		request.Params.Meta = &mcpgotypes.Meta{AdditionalFields: meta}
	}
	result, err := a.client.CallTool(t.Context(), request)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{Failed: result.IsError, Text: result.Content[0].(mcpgotypes.TextContent).Text}
	if result.Meta != nil {
		o.Meta = result.Meta.AdditionalFields
	}
	return o, json.Unmarshal(result.RawStructuredContent, &o.Value)
}

// bearer is an HTTP transport that adds an access token to every request. Its idle
// connections are closed at the end of the test.
type bearer struct {
	token     string
	transport *http.Transport
}

func withBearer(t *testing.T, token string) *http.Client {
	t.Helper()
	b := bearer{token, &http.Transport{}}
	t.Cleanup(b.transport.CloseIdleConnections)
	return &http.Client{Transport: b, Timeout: time.Minute}
}

// RoundTrip sends the request with the access token added.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.transport.RoundTrip(r)
}
