package dashboard_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/ordinary"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/tools"
)

// helped is a product whose owner wants to approve each send of an application. The
// application asks over MCP and over REST.
type helped struct {
	*browser
	token string // for the agent endpoint
}

func newHelped(t *testing.T, p *product.Product) *helped {
	t.Helper()
	now, list := p.Clock.Now(), lists.List{ID: core.NewID(), Key: "readers", Name: "Readers", Source: "api", Origin: core.ManagedOrigin, Status: "active"}
	list.CreatedAt, list.UpdatedAt = now, now
	if err := p.DB.Lists().InsertList(t.Context(), p.OrgID, list); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		c := contacts.Contact{
			ID: core.NewID(), Email: fmt.Sprintf("reader%d@example.com", i), Status: contacts.Active, Attributes: map[string]any{}, TopicPreferences: []topics.Preference{},
			Lists: []lists.Ref{}, CreatedAt: now, UpdatedAt: now,
		}
		if err := p.DB.Contacts().InsertContact(t.Context(), p.OrgID, c); err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.DB.ListMembers().ReplaceMembership(t.Context(), p.OrgID, c.ID, []string{list.ID}, now); err != nil {
			t.Fatal(err)
		}
	}
	verifyDomain(t, p)
	h := &helped{owner(t, p), p.Token(t, p.MCPURL)}
	page := h.submit(h.open("/dashboard/send-policy"), "/dashboard/send-policy", func(form url.Values) { form.Set("rule", "always") })
	h.wants(page, "The policy is saved", `value="always" checked`)
	return h
}

// verifyDomain gives the sending account a verified domain and production access, and copies
// the domain to the product, as a sync does.
func verifyDomain(t *testing.T, p *product.Product) {
	t.Helper()
	domain := sending.Identity{Identity: "news.example.com", Verification: sending.Success}
	setup := simulator.Setup{
		Account:    &sending.Overview{SendingEnabled: true, Max24HourSend: -1, MaxSendRate: 1000},
		Identities: []sending.Identity{domain},
	}
	if err := p.Simulator.Seed(t.Context(), p.OrgID, setup); err != nil {
		t.Fatal(err)
	}
	product.Await(t, 30*time.Second, func() error { // a sync of the product may come between the two calls
		last, err := p.DB.Channels().LastSync(t.Context(), p.OrgID)
		if err != nil {
			return err
		}
		return p.DB.Channels().Mirror(t.Context(), p.OrgID, channels.Seen{
			Sync: channels.Sync{Account: last.Account, Region: last.Region, At: p.Clock.Now()}, Previous: last.At, Identities: []sending.Identity{domain},
		})
	})
}

// tool calls a tool as the application and returns the structured result.
func (h *helped) tool(name, arguments string) map[string]any {
	h.t.Helper()
	answer := h.p.Send(h.t, h.p.ToAgent(h.token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":`+arguments+`}}`))
	var got struct {
		Result struct {
			StructuredContent map[string]any `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(answer.Body), &got); err != nil || got.Result.StructuredContent == nil {
		h.t.Fatalf("%s: %d %s", name, answer.Status, answer.Body)
	}
	return got.Result.StructuredContent
}

// sendTool sends a broadcast in the two steps of the tool.
func (h *helped) sendTool(id string) map[string]any {
	h.t.Helper()
	arguments := `{"broadcast_id":"` + id + `","acknowledge_no_topic":true`
	first := h.tool("broadcasts_send", arguments+"}")
	if text := fmt.Sprint(first); !strings.Contains(text, "Nothing is sent before a person approves it.") {
		h.t.Errorf("the preview does not say that a person must approve: %s", text)
	}
	return h.tool("broadcasts_send", arguments+`,"confirmation_token":"`+fmt.Sprint(first["confirmation_token"])+`"}`)
}

// compose writes a draft with a name of its own and returns its id.
func (h *helped) compose(name string) string {
	h.t.Helper()
	made := h.tool("broadcasts_compose", `{"name":"`+name+`","html":"<p>Spring is here</p>","subject":"Spring","audience_kind":"list","audience_id":"readers"}`)
	return fmt.Sprint(made["broadcast_id"])
}

// hold sends a draft that then waits, and returns its id and the path of its approval.
func (h *helped) hold(name string) (id, path string) {
	h.t.Helper()
	id = h.compose(name)
	h.sendTool(id)
	return id, h.waiting()
}

// waiting returns the path of the page of the only approval that waits.
func (h *helped) waiting() string {
	h.t.Helper()
	all, err := h.p.DB.Approvals().Find(h.t.Context(), h.p.OrgID, approvals.Filter{Waiting: true, Limit: 10})
	if err != nil || len(all) != 1 {
		h.t.Fatalf("%d approvals wait, %v", len(all), err)
	}
	return "/dashboard/approvals/" + all[0].ID
}

// TestApproveSend lets an agent send, a person approve on the dashboard, and the agent read
// the outcome; then the same over REST, with a rejection.
func TestApproveSend(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		h := newHelped(t, p)
		id := h.compose("Spring")
		held := h.sendTool(id)
		path := h.waiting()
		if held["status"] != "awaiting_approval" || !strings.Contains(fmt.Sprint(held["summary"]), p.AppURL+path) {
			t.Fatalf("the second step answers %v, the page is %s", held, path)
		}
		if status := h.tool("broadcasts_get_status", `{"broadcast_id":"`+id+`"}`); status["state"] != "draft" || !strings.Contains(fmt.Sprint(status["next_step"]), path) {
			t.Errorf("the status while it waits: %v", status)
		}
		h.wants(h.open("/dashboard"), "1 send waits for your approval")
		h.wants(h.open("/dashboard/approvals"), path, "Waits for approval")
		page := h.open(path)
		h.wants(page, "Spring", "Readers", "Members of the audience", `sandbox title="Rendered mail"`, "Approve send", "Reject send")
		if status, _, mail := h.send(path+"/mail", nil); status != http.StatusOK || !strings.Contains(mail, "Spring is here") {
			t.Errorf("the rendered mail: %d %s", status, mail)
		}
		h.wants(h.submit(page, path+"/approve", unchanged), "Approved. The send has begun.", "Approved by <bdi>you</bdi>")
		product.Await(t, 30*time.Second, func() error {
			status := h.tool("broadcasts_get_status", `{"broadcast_id":"`+id+`"}`)
			if summary, _ := status["summary"].(map[string]any); status["state"] != "sent" || fmt.Sprint(summary["sent"]) != "3" {
				return fmt.Errorf("the status is %v", status)
			}
			return nil
		})
		h.wants(h.open("/dashboard/audit"), "Send approved", "Approval of a send requested")
		h.rejectOverREST()
	})
}

// rejectOverREST sends another broadcast over REST, which a person rejects.
func (h *helped) rejectOverREST() {
	h.t.Helper()
	id := h.compose("Summer")
	for range 2 {
		answer := h.p.Send(h.t, product.Request{Method: http.MethodPost, URL: h.p.BaseURL + "/v1/broadcasts/" + id + "/send", Bearer: h.p.Live.APIKey, Body: `{"acknowledge_no_topic":true}`})
		if want := `{"id":"` + id + `","status":"awaiting_approval"}`; answer.Status != http.StatusAccepted || strings.TrimSpace(answer.Body) != want {
			h.t.Fatalf("send over REST: %d %s", answer.Status, answer.Body)
		}
	}
	path := h.waiting()
	page := h.submit(h.open(path), path+"/reject", func(form url.Values) { form.Set("reason", "Say when spring begins.") })
	h.wants(page, "Rejected by <bdi>you</bdi>", "Say when spring begins.")
	status := h.tool("broadcasts_get_status", `{"broadcast_id":"`+id+`"}`)
	if next := fmt.Sprint(status["next_step"]); status["state"] != "draft" || !strings.Contains(next, "Say when spring begins.") {
		h.t.Errorf("the status after the rejection: %v", status)
	}
	answer := h.p.Send(h.t, product.Request{URL: h.p.BaseURL + "/v1/broadcasts/" + id, Bearer: h.p.Live.APIKey})
	if !strings.Contains(answer.Body, `"status":"rejected"`) || !strings.Contains(answer.Body, h.p.AppURL+path) {
		h.t.Errorf("the record after the rejection: %s", answer.Body)
	}
}

// TestNoTokenApproves calls every operation with credentials that have all scopes, with the
// ids of the approval and of its broadcast, and posts the form of the page with bearer
// tokens. The send still waits.
func TestNoTokenApproves(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		h := newHelped(t, p)
		id, path := h.hold("Spring")
		approval := path[strings.LastIndex(path, "/")+1:]
		for _, s := range core.AllScopes() {
			if members.PermissionFor(s) == members.MayApproveSends {
				t.Errorf("a token with the scope %s has the permission to approve", s)
			}
		}
		if scopes := (members.Member{Role: members.PlainMember, Permissions: []members.Permission{members.MayApproveSends}}).Scopes(); len(scopes) != 0 {
			t.Errorf("the permission covers the scopes %v", scopes)
		}
		for _, bearer := range []string{h.token, p.Token(t, p.BaseURL), p.Live.APIKey} {
			answer := p.Send(t, product.Request{
				Method: http.MethodPost, URL: p.AppURL + path + "/approve", Bearer: bearer, Body: "audience_size=3&mailable=3",
				Header: product.HeaderOf("Content-Type", "application/x-www-form-urlencoded", "Origin", p.AppURL),
			})
			if answer.Status == http.StatusOK || strings.Contains(answer.Header.Get("Location"), "done=") {
				t.Errorf("the form with a bearer token: %d %v", answer.Status, answer.Header)
			}
		}
		called := 0
		for _, value := range []string{approval, id} {
			called += h.callAll(value)
		}
		if called < 150 {
			t.Errorf("only %d calls", called)
		}
		a, err := p.DB.Approvals().Approval(t.Context(), p.OrgID, approval)
		if err != nil || a.State != approvals.Pending {
			t.Errorf("the approval is %s, %v", a.State, err)
		}
	})
}

// callAll calls every operation by its route and its tool, with the value in the place of
// each id, and returns the number of calls. It leaves out broadcasts_delete, which deletes
// the draft, after which nothing can be approved.
func (h *helped) callAll(value string) int {
	h.t.Helper()
	called := 0
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		name := op.Info().Name
		if name == "broadcasts_delete" {
			continue
		}
		values := ordinary.Values{"id": value, "broadcast_id": value, "approval_id": value, "email": "nobody@example.com", "contact": "nobody@example.com", "slug": value, "name": value}
		for _, route := range rest.Routes() {
			if route.Operation != name {
				continue
			}
			call, err := ordinary.Route(op, route, values)
			if err != nil { // its arguments have another form; an empty body and the id in each place of the path stand for them
				call = ordinary.Call{Method: route.Method, Path: fill(route.Path, value), Body: "{}"}
			}
			h.p.Send(h.t, product.Request{Method: call.Method, URL: h.p.BaseURL + fill(call.Path, value), Bearer: h.p.Live.APIKey, Body: call.Body})
			called++
		}
		if slices.Contains(tools.Table(), name) {
			call, err := ordinary.Tool(op, values)
			if err != nil {
				call.Body = "{}"
			}
			h.p.Send(h.t, h.p.ToAgent(h.token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":`+call.Body+`}}`))
			called++
		}
	}
	return called
}

// fill replaces the parameters of a path with a value.
func fill(path, value string) string {
	for {
		before, rest, found := strings.Cut(path, "{")
		if !found {
			return path
		}
		_, after, _ := strings.Cut(rest, "}")
		path = before + value + after
	}
}

// TestStopAllMailOnDashboard stops all mail and allows it again.
func TestStopAllMailOnDashboard(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		b := owner(t, p)
		page := b.submit(b.open("/dashboard/stop-mail"), "/dashboard/stop-mail", unchanged)
		b.wants(page, "All mail is stopped", "Allow mail")
		b.wants(b.open("/dashboard/contacts"), "All mail of this organization is stopped")
		b.wants(b.open("/account/security"), "All mail of this organization is stopped")
		page = b.submit(b.open("/dashboard/stop-mail"), "/dashboard/stop-mail", unchanged)
		b.wants(page, "Mail is allowed again")
		if page := b.open("/dashboard/contacts"); strings.Contains(page, "is stopped") {
			t.Error("a page still says that mail is stopped")
		}
	})
}

// TestApprovalWaitsThroughARestart stops the product while a send waits, and approves the
// send after the product started again.
func TestApprovalWaitsThroughARestart(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		h := newHelped(t, p)
		id, path := h.hold("Spring")
		p.Restart(t)
		h = &helped{browser: owner(t, p), token: p.Token(t, p.MCPURL)}
		if got := h.waiting(); got != path {
			t.Fatalf("after the restart %s waits, want %s", got, path)
		}
		h.wants(h.submit(h.open(path), path+"/approve", unchanged), "Approved. The send has begun.")
		product.Await(t, 30*time.Second, func() error {
			if status := h.tool("broadcasts_get_status", `{"broadcast_id":"`+id+`"}`); status["state"] != "sent" {
				return fmt.Errorf("the status is %v", status)
			}
			return nil
		})
	})
}
