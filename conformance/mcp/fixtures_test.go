package mcp_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/standin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The official MCP conformance suite calls tools by name. plainTools are the tools that
// answer with text, so operations can implement them; nothingIn is the input of these
// operations. The suite's other tools are written by hand, because no operation can give
// their answers.

type nothingIn struct{}

type sentenceOut struct {
	Sentence string `json:"sentence"`
}

var plainTools = []string{"test_simple_text", "test_logging_tool", "test_streaming_elicitation", "test_error_handling"}

func suiteOperations() []core.Operation {
	var operations []core.Operation
	for _, name := range plainTools {
		operations = append(operations, core.Declare(core.Op[nothingIn, sentenceOut]{
			Name: name, Title: name, Purpose: "A tool of the official suite.", Effect: core.Reads,
			Do: func(context.Context, *core.Call, nothingIn) (sentenceOut, error) {
				if name == "test_error_handling" {
					return sentenceOut{}, core.Invalid("", "is refused, as the suite expects")
				}
				return sentenceOut{"This is a simple text response for testing."}, nil
			},
		}))
	}
	return operations
}

func suiteFixtures() []standin.Fixture {
	var all []standin.Fixture
	for name, handler := range map[string]sdk.ToolHandler{
		"test_image_content":                         contents(picture),
		"test_audio_content":                         contents(sound),
		"test_embedded_resource":                     contents(document),
		"test_multiple_content_types":                contents(words, picture, document),
		"test_tool_with_progress":                    reportProgress,
		"test_missing_capability":                    needSampling,
		"test_input_required_result_elicitation":     rounds(inputRequests{"user_name": askName}),
		"test_input_required_result_sampling":        rounds(inputRequests{"capital_question": askModel}),
		"test_input_required_result_list_roots":      rounds(inputRequests{"client_roots": askRoots}),
		"test_input_required_result_multiple_inputs": rounds(inputRequests{"user_name": askName, "greeting": askModel, "client_roots": askRoots}),
		"test_input_required_result_multi_round":     rounds(inputRequests{"step1": askName}, inputRequests{"step2": askName}),
		"test_input_required_result_request_state":   rounds(inputRequests{"confirm": askName}),
		"test_input_required_result_tampered_state":  rounds(inputRequests{"confirm": askName}),
		"test_input_required_result_capabilities":    askWithinCapabilities,
	} {
		all = append(all, standin.Fixture{
			Tool:    &sdk.Tool{Name: name, Description: "A tool of the official suite.", InputSchema: json.RawMessage(`{"type":"object"}`)},
			Handler: handler,
		})
	}
	return all
}

var (
	words    = &sdk.TextContent{Text: "Three things follow."}
	picture  = &sdk.ImageContent{MIMEType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	sound    = &sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("RIFF\x00\x00\x00\x00WAVE")}
	document = &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "test://document", MIMEType: "text/plain", Text: "A document."}}
)

func contents(all ...sdk.Content) sdk.ToolHandler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: all}, nil
	}
}

func reportProgress(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	for _, done := range []float64{0, 50, 100} {
		step := &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: done, Total: 100}
		if err := req.Session.NotifyProgress(ctx, step); err != nil {
			return nil, err
		}
	}
	return contents(words)(ctx, req)
}

// needSampling handles the suite's tool that needs a client with support for sampling. For
// any other client it returns a JSON-RPC error, to which the endpoint adds the HTTP status.
//
//nolint:staticcheck // the suite asks for what the revision phases out
func needSampling(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if req.ClientCapabilities().Sampling != nil {
		return contents(words)(ctx, req)
	}
	return nil, &jsonrpc.Error{
		Code: sdk.CodeMissingRequiredClientCapabilities, Message: "this tool needs sampling",
		Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
	}
}

// inputRequests has the requests for input that a tool sends to the client in one round,
// by name.
type inputRequests = sdk.InputRequestMap

//nolint:staticcheck // the suite asks for what the revision phases out
var (
	askName = &sdk.ElicitParams{
		Mode: "form", Message: "What is your name?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
	}
	askModel = &sdk.CreateMessageParams{
		Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: "What is the capital of France?"}}}, MaxTokens: 50,
	}
	askRoots = &sdk.ListRootsParams{}
)

// rounds returns a handler that asks the client for one set of inputs after the other and
// then returns a result. With its inputs the client returns the member requestState, which
// says for which set the handler asked. The handler refuses an unknown requestState.
func rounds(all ...inputRequests) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		at := 0
		if req.Params.RequestState != "" {
			for at < len(all) && req.Params.RequestState != stateOf(at) {
				at++
			}
			if at == len(all) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request state is not one of this server"}
			}
		}
		if answers(all[at], req.Params.InputResponses) {
			at++
		}
		if at == len(all) {
			return contents(words)(ctx, req)
		}
		return &sdk.CallToolResult{Content: []sdk.Content{}, InputRequests: all[at], RequestState: stateOf(at)}, nil
	}
}

func stateOf(round int) string { return "round " + string(rune('1'+round)) }

func answers(questions inputRequests, given sdk.InputResponseMap) bool {
	for name := range questions {
		if given[name] == nil {
			return false
		}
	}
	return true
}

//nolint:staticcheck // the suite asks for what the revision phases out
func askWithinCapabilities(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	questions := inputRequests{}
	if req.ClientCapabilities().Sampling != nil {
		questions["greeting"] = askModel
	}
	if req.ClientCapabilities().Elicitation != nil {
		questions["user_name"] = askName
	}
	return rounds(questions)(ctx, req)
}

// startSuiteTools starts a server with the tools of the official conformance suite. Web
// pages of the given origin may call it. It returns the server's address.
func startSuiteTools(t *testing.T, origin string) string {
	t.Helper()
	return standin.Serve(t, standin.Config{Operations: suiteOperations(), Fixtures: suiteFixtures(), AllowedOrigins: []string{origin}})
}
