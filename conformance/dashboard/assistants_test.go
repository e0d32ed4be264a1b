package dashboard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demodata"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
)

const activityOfAssistants = "/dashboard/connect/activity"

// sendIn and sendOut are the input and output of the operation sendWithoutMail.
type (
	sendIn struct {
		ID                string `json:"id"`
		ConfirmationToken string `json:"confirmation_token,omitempty"`
	}
	sendOut struct {
		Status string `json:"status"`
	}
)

// sendWithoutMail is an operation that asks for a confirmation and has no effect.
func sendWithoutMail() core.Operation {
	return core.Declare(core.Op[sendIn, sendOut]{
		Name: "workflows_activate", Title: "Activate a workflow", Purpose: "Activates a workflow.", Effect: core.Destroys,
		Scopes: []core.Scope{core.WorkflowsManage},
		Confirm: func(context.Context, *core.Call, sendIn) (*core.Confirmation, error) {
			return &core.Confirmation{Message: "This sends the broadcast.", Preview: map[string]int{"recipients": 7}}, nil
		},
		Do: func(_ context.Context, c *core.Call, in sendIn) (sendOut, error) {
			c.SetSubject(in.ID)
			return sendOut{Status: "sending"}, nil
		},
	})
}

// callTool calls a tool at the agent endpoint. It returns the status of HTTP and the
// structured content of the answer, which may be nil.
func callTool(t *testing.T, p *product.Product, token, tool string, arguments map[string]any) (int, map[string]any) {
	t.Helper()
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})
	if err != nil {
		t.Fatal(err)
	}
	got := p.Send(t, p.ToAgent(token, string(message)))
	var answer struct {
		Result struct {
			StructuredContent map[string]any `json:"structuredContent"`
		} `json:"result"`
	}
	if got.Status == http.StatusOK {
		if err := json.Unmarshal([]byte(got.Body), &answer); err != nil {
			t.Fatalf("%v: %s", err, got.Body)
		}
	}
	return got.Status, answer.Result.StructuredContent
}

// TestActivityOfAssistants checks what the dashboard shows about an assistant that reads,
// is refused, asks a person to confirm and is confirmed: calls by tool, the time of the last
// call, and for each person only their own. Revoking its access on that page ends it.
func TestActivityOfAssistants(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{Operations: []core.Operation{sendWithoutMail()}})
	p.Clock.Freeze(p.Clock.Now()) // the calls, the changes and the pages are of the same day
	boss := owner(t, p)
	ann := newBrowser(t, p)
	ann.signIn(person(t, p, "ann", members.PlainMember, members.MayViewLists).Email, personPassword)
	boss.wants(boss.open(activityOfAssistants), "No assistant has called a tool", "Connect an assistant")

	token := boss.token(p.MCPURL, "api.contacts.view", "api.contacts.manage", "api.workflows.manage")
	look := map[string]any{"email": demodata.FirstEmail}
	for range 2 {
		callTool(t, p, token, "contacts_lookup", look)
	}
	if _, got := callTool(t, p, token, "contacts_lookup", map[string]any{"email": 7}); got["code"] != string(core.CodeValidationFailed) {
		t.Fatalf("a call with a number as address: %v", got)
	}
	if _, got := callTool(t, p, token, "contacts_upsert", map[string]any{"email": demodata.FirstEmail, "attributes": map[string]any{"city": "Graz"}}); got["code"] != nil {
		t.Fatalf("a change of a contact: %v", got)
	}
	_, asked := callTool(t, p, token, "workflows_activate", map[string]any{"id": "spring"})
	confirmation, _ := asked["confirmation_token"].(string)
	if confirmation == "" {
		t.Fatalf("the tool does not ask for a confirmation: %v", asked)
	}
	if _, sent := callTool(t, p, token, "workflows_activate", map[string]any{"id": "spring", "confirmation_token": confirmation}); sent["status"] != "sending" {
		t.Fatalf("confirmed: %v", sent)
	}

	want := map[string]string{
		"contacts_lookup":    "calls 3, confirmed , refused 1, failed ",
		"contacts_upsert":    "calls 1, confirmed , refused , failed ",
		"workflows_activate": "calls 2, confirmed 1 of 1, refused , failed ",
	}
	var page string
	product.Await(t, 30*time.Second, func() error { // counts are stored every five seconds, perhaps between two calls
		page = boss.open(activityOfAssistants)
		if got := activityOf(page); fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("the page shows %v, want %v", got, want)
		}
		return nil
	})
	boss.wants(page, "Assistant", p.UserEmail, `<time datetime="`+p.Clock.Now().UTC().Format("2006-01-02"))
	ann.wants(ann.open(activityOfAssistants), "None of your assistants has called a tool")

	boss.wants(boss.open("/dashboard/audit"), "Create or change a contact<br><code>contacts_upsert</code>", "<td data-name=\"Actor\"><bdi>application Assistant</bdi>")
	boss.wants(boss.open("/dashboard"), "Assistants and programs today", "contacts_upsert")

	ofClient := boss.mustFind(page, regexp.MustCompile(`href="(`+activityOfAssistants+`\?client_id=[^"]+)"`))
	page = boss.open(ofClient)
	boss.wants(page, "Only calls of <bdi>Assistant</bdi>", "Revoke this access")
	revoke := boss.mustFind(page, regexp.MustCompile(`action="(/dashboard/grants/[0-9a-f-]{36}/revoke)"`))
	boss.wants(boss.submit(page, revoke, unchanged), "The access has ended")
	if status, _ := callTool(t, p, token, "contacts_lookup", look); status != http.StatusUnauthorized {
		t.Errorf("a call after the access was revoked: %d", status)
	}
	page = boss.open(ofClient)
	boss.wants(page, "contacts_lookup") // what it did stays
	boss.lacks(page, "Revoke this access")
	if lines := audited(t, p); lines["oauth_grant.revoked"] != 1 {
		t.Errorf("audit log: %v", lines)
	}
}

var (
	activityRow  = regexp.MustCompile(`<td data-name="Tool"><code>([a-z_]+)</code></td>((?:<td class="n" data-name="[^"]+">[0-9,of ]*</td>)+)`)
	activityCell = regexp.MustCompile(`data-name="([^" ]+)[^"]*">([0-9,of ]*)<`)
)

// activityOf returns the numbers of calls in the table of the page, by tool.
func activityOf(page string) map[string]string {
	rows := map[string]string{}
	for _, row := range activityRow.FindAllStringSubmatch(page, -1) {
		var cells []string
		for _, cell := range activityCell.FindAllStringSubmatch(row[2], -1) {
			cells = append(cells, strings.ToLower(cell[1])+" "+cell[2])
		}
		rows[row[1]] = strings.Join(cells, ", ")
	}
	return rows
}
