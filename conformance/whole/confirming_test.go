package whole

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/standin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// onlyCaller is an authenticator that returns the same principal for every request.
type onlyCaller core.Principal

// Authenticate returns the principal c for every credential.
func (c onlyCaller) Authenticate(context.Context, string, access.Resource) (core.Principal, error) {
	return core.Principal(c), nil
}

type reachIn struct {
	List string `json:"list" jsonschema_description:"Whom it reaches, by the list's key."`
}

type reachOut struct {
	Status string `json:"status" jsonschema:"enum=sent"`
}

// confirmableOperation returns an operation that needs a confirmation and does nothing.
// nameOf formats the name of a contact list in the text of the confirmation.
func (w world) confirmableOperation(name string, scope core.Scope, nameOf func(string) string) core.Operation {
	return core.Declare(core.Op[reachIn, reachOut]{
		Name: name, Title: "Reach people", Purpose: "Reaches people.", Effect: core.Destroys, Scopes: []core.Scope{scope},
		Confirm: func(ctx context.Context, c *core.Call, in reachIn) (*core.Confirmation, error) {
			found, err := w.p.DB.Lists().ListsByRef(ctx, c.Principal.Org.ID, []string{in.List})
			if err != nil || len(found) != 1 {
				return nil, core.NotFound("list")
			}
			return &core.Confirmation{Message: "This reaches the list " + nameOf(found[0].Name) + ".", Preview: found[0]}, nil
		},
		Do: func(context.Context, *core.Call, reachIn) (reachOut, error) { return reachOut{"sent"}, nil },
	})
}

// The names of the two operations that the method confirming serves. The confirmation text
// of quotedOperation has the name of the list in quotation marks. The confirmation text of
// unquotedOperation has the name without quotation marks.
const (
	quotedOperation   = "broadcasts_send"
	unquotedOperation = "workflows_activate"
)

// confirming serves two test operations at an agent endpoint and returns the endpoint's URL:
// quotedOperation (broadcasts_send) and unquotedOperation (workflows_activate). The
// endpoint uses the product's database.
func (w world) confirming(t *testing.T) string {
	t.Helper()
	mine := core.Principal{
		Org:    core.Org{ID: w.p.OrgID, Name: "Mine", Slug: "mine", Tier: "team", RetentionDays: 90},
		Scopes: core.AllScopes(), Credential: core.Credential{Kind: core.OAuthClient, ID: core.NewID(), Name: "oc_live_mine", Environment: core.Live},
	}
	return standin.Serve(t, standin.Config{
		Operations: []core.Operation{
			w.confirmableOperation(quotedOperation, core.BroadcastsManage, core.Quote),
			w.confirmableOperation(unquotedOperation, core.WorkflowsManage, func(name string) string { return name }),
		},
		DB: w.p.DB, Callers: onlyCaller(mine), Clock: w.p.Clock.Now,
	})
}

// checkConfirmations uses each text as the name of a list. The operation broadcasts_send
// must quote the name in a plain result, in a form, and in the refusal of a confirmation.
// The operation workflows_activate must not show concealed characters of the name.
func (w world) checkConfirmations(t *testing.T, texts []hostile) {
	t.Helper()
	url := w.confirming(t)
	for _, h := range texts {
		key := keyOfList(h.number, h)
		for what, got := range map[string]answer{
			"a plain result": w.callConfirmable(t, url, quotedOperation, key, false, ""),
			"a form":         w.callConfirmable(t, url, quotedOperation, key, true, ""),
			"a refusal":      w.callConfirmable(t, url, quotedOperation, key, false, "not a token"),
		} {
			checkVoice(t, what+" about "+h.String(), got, h)
			h.checkNamedInQuotes(t, what, got)
		}
		if _, found := findConcealed(h.text); !found {
			continue
		}
		for _, form := range []bool{false, true} {
			got := w.callConfirmable(t, url, unquotedOperation, key, form, "")
			for _, text := range append(got.blocks(), formMessage(got)) {
				if r, found := findConcealed(text); found {
					t.Errorf("a question about %s holds %U, form %v: %.200q", h, r, form, text)
				}
			}
		}
	}
}

var reached = regexp.MustCompile(`This reaches the list "([^"]*)"\.`)

func (h hostile) checkNamedInQuotes(t *testing.T, what string, got answer) {
	t.Helper()
	var all strings.Builder
	for _, text := range append(got.blocks(), formMessage(got)) {
		all.WriteString(text)
	}
	named := reached.FindStringSubmatch(all.String())
	if named == nil || len([]rune(named[1])) > longestQuoted {
		t.Errorf("%s about %s: %q", what, h, all.String())
	}
}

// formMessage returns the message of the form in an answer, or "" if there is no form.
func formMessage(got answer) string {
	requests, _ := got.result()["inputRequests"].(map[string]any)
	asked, _ := requests["confirm"].(map[string]any)
	params, _ := asked["params"].(map[string]any)
	message, _ := params["message"].(string)
	return message
}

func (w world) callConfirmable(t *testing.T, url, tool, list string, form bool, token string) answer {
	t.Helper()
	const modern = "2026-07-28"
	meta, arguments := map[string]any{}, map[string]any{"list": list}
	header := http.Header{
		"Authorization": {"Bearer x"}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2025-11-25"},
	}
	if form {
		header["Mcp-Protocol-Version"], header["Mcp-Method"], header["Mcp-Name"] = []string{modern}, []string{"tools/call"}, []string{tool}
		meta["io.modelcontextprotocol/protocolVersion"] = modern
		meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{"elicitation": map[string]any{}}
	}
	if token != "" {
		arguments["confirmation_token"] = token
	}
	message := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments, "_meta": meta}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", bytes.NewReader(encoded(t, message)))
	w.must(t, err)
	r.Header = header
	response, err := w.p.HTTP.Do(r)
	w.must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	w.must(t, err)
	a := answer{status: response.StatusCode, header: response.Header, body: string(text)}
	if json.Unmarshal(text, &a.object) != nil || a.status != http.StatusOK || a.result() == nil {
		t.Fatalf("%s: %d %.300s", tool, a.status, text)
	}
	return a
}
