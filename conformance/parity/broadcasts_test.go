package parity

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/channels"
)

// draft creates a broadcast to the newsletter by the route, and returns its id. members are
// further members of the request, such as `"topic_id":"offers",`.
func draft(t *testing.T, p *product.Product, program, members string) string {
	t.Helper()
	body := `{` + members + `"name":"Both","html":"<p>Hello {{first_name}} from {{city}}</p>","subject":"Hello","audience_kind":"list","audience_id":"newsletter"}`
	made, status := send(t, p, http.MethodPost, p.BaseURL+"/v1/broadcasts", program, body)
	id, _ := made["id"].(string)
	if status != http.StatusCreated || id == "" {
		t.Fatalf("no broadcast: %d %v", status, made)
	}
	return id
}

// TestBroadcastsAreTheSameOnBothSurfaces previews, tests and sends broadcasts by the routes
// and by the tools. Both must find the same audience, and reach the same recipients. Only the
// tool asks for a confirmation.
func TestBroadcastsAreTheSameOnBothSurfaces(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		p.AwaitJob(t, channels.SyncArgs{}.Kind()) // it copies the verified domain, from which mail is sent
		agent, program := p.Token(t, p.MCPURL), p.Token(t, p.BaseURL)
		id := draft(t, p, program, `"topic_id":"offers",`)
		both := func(tool, arguments, route, body string) (byTool, byRoute map[string]any) {
			t.Helper()
			byRoute, status := send(t, p, http.MethodPost, p.BaseURL+"/v1/broadcasts/"+id+route, program, body)
			byTool, _ = sameness{tool: tool, arguments: `{"broadcast_id":"` + id + `"` + arguments + `}`}.callTool(t, p, agent)
			if byTool["code"] != nil || status >= 300 {
				t.Fatalf("%s: %d %v, by the tool %v", tool, status, byRoute, byTool)
			}
			return byTool, byRoute
		}
		byTool, byRoute := both("broadcasts_preview", "", "/preview", `{}`)
		if diff := cmp.Diff(byRoute, byTool); diff != "" || byRoute["audience_size"] == 0.0 {
			t.Errorf("the previews differ (- route, + tool):\n%s", diff)
		}
		byTool, byRoute = both("broadcasts_test_send", `,"recipients":["ann@example.com","bob@example.com"]`, "/test", `{"recipients":["ann@example.com","bob@example.com"]}`)
		if diff := cmp.Diff(withoutMessageIDs(byRoute), withoutMessageIDs(byTool)); diff != "" || byTool["sent"] != 2.0 {
			t.Errorf("the tests differ (- route, + tool):\n%s", diff)
		}
		checkSends(t, p, agent, program)
	})
}

// checkSends sends one broadcast by the route and one by the tool.
func checkSends(t *testing.T, p *product.Product, agent, program string) {
	t.Helper()
	const topic, acknowledged = `"topic_id":"offers",`, `"acknowledge_no_topic":true`
	for members, argument := range map[string]string{topic: "", "": acknowledged} {
		one, other := draft(t, p, program, members), draft(t, p, program, members)
		toSend := sameness{tool: "broadcasts_send", method: "POST", path: "/v1/broadcasts/" + one + "/send", live: true, scopes: []string{"api.broadcasts.manage"}}
		if members == "" { // the refusals are the same, too
			toSend.arguments, toSend.body = `{"broadcast_id":"`+one+`"}`, `{}`
			toSend.check(t, p)
			if got, _ := toSend.callRoute(t, p, program); got["code"] != "no_topic_acknowledgement_required" {
				t.Errorf("without a topic: %v", got)
			}
		}
		toSend.body = "{" + argument + "}"
		byRoute, status := toSend.callRoute(t, p, program)
		with := func(more string) sameness {
			arguments := strings.Trim(strings.Join([]string{`"broadcast_id":"` + other + `"`, argument, more}, ","), ",")
			return sameness{tool: "broadcasts_send", arguments: "{" + strings.ReplaceAll(arguments, ",,", ",") + "}"}
		}
		asked, _ := with("").callTool(t, p, agent)
		byTool, _ := with(fmt.Sprintf(`"confirmation_token":%q`, asked["confirmation_token"])).callTool(t, p, agent)
		if status != http.StatusAccepted || byRoute["id"] != one || byRoute["status"] != "sending" || asked["confirmation_required"] != true ||
			byTool["broadcast_id"] != other || byTool["status"] != byRoute["status"] {
			t.Fatalf("%d %v, asked %v, by the tool %v", status, byRoute, asked, byTool)
		}
		var sizes []any
		for _, id := range []string{one, other} {
			read, _ := send(t, p, http.MethodGet, p.BaseURL+"/v1/broadcasts/"+id, program, "")
			summary, _ := read["summary"].(map[string]any)
			sizes = append(sizes, summary["audience_size"])
		}
		if preview, _ := asked["preview"].(map[string]any); sizes[0] != sizes[1] || sizes[0] != preview["audience_size"] || sizes[0] == 0.0 {
			t.Errorf("audiences of %v and %v members, confirmed were %v", sizes[0], sizes[1], preview)
		}
	}
}

var messageIDs = regexp.MustCompile(`message_id:\S+`)

// withoutMessageIDs returns the result as a text without the ids of its messages.
func withoutMessageIDs(result map[string]any) string {
	return messageIDs.ReplaceAllString(fmt.Sprint(result), "message_id")
}
