package mixed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// activity records an activity of a register's contact. A refused item is sent again.
func (c *caller) activity(ctx context.Context) {
	n := c.Work.number("activities")
	item := fmt.Sprintf(`[{"name":"counted","email":%q,"idempotency_key":"activity-%d","properties":{"n":%d}}]`, keyOf(c.chance.IntN(c.Keys)), n, n)
	if c.record(ctx, item) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.activities[n] = true
	}
}

// record records one item until it is accepted.
func (c *caller) record(ctx context.Context, item string) bool {
	for {
		var got struct {
			Data []struct{ Status, Reason string }
		}
		if !c.succeeds(ctx, request{method: http.MethodPost, path: "/v1/activities", body: item, key: c.newKey()}, http.StatusAccepted, &got) {
			return false
		}
		switch {
		case len(got.Data) == 1 && got.Data[0].Status == "accepted":
			return true
		case len(got.Data) == 1 && (got.Data[0].Reason == "dedup_unavailable" || got.Data[0].Reason == "rate_limited"):
			c.Journal.again("activity " + got.Data[0].Reason)
			c.sleep(ctx, 500*time.Millisecond)
		default:
			c.Journal.fail("the activity %s: %+v", item, got)
			return false
		}
	}
}

// enter lets a new contact enter the workflow.
func (c *caller) enter(ctx context.Context) {
	n := c.Work.number("runs")
	if c.record(ctx, fmt.Sprintf(`[{"name":"joined","email":%q,"idempotency_key":"run-%d"}]`, runnerOf(n), n)) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.runs[n] = true
	}
}

func runnerOf(n int) string { return fmt.Sprintf("runner%05d@example.org", n) }

// activateWorkflow creates the workflow as an assistant does, which must confirm the activation.
func (c *caller) activateWorkflow(ctx context.Context) {
	source, err := json.Marshal("workflow \"Journey\" v1 {\n  enter on activity.joined\n  set attr.stage = 1\n  add to list \"travellers\"\n  set attr.done = 1\n}\n")
	if err != nil {
		c.Journal.fail("%v", err)
		return
	}
	if !c.tool(ctx, "workflows_author", fmt.Sprintf(`{"key":"journey","source":%s}`, source), nil) {
		return
	}
	var asked struct {
		Token string `json:"confirmation_token"`
	}
	key := c.newKey()
	a, _, _ := c.definite(ctx, request{tool: "workflows_activate", body: `{"workflow":"journey"}`, key: key})
	var message struct {
		Result struct{ StructuredContent json.RawMessage }
	}
	if json.Unmarshal(a.body, &message) != nil || json.Unmarshal(message.Result.StructuredContent, &asked) != nil || asked.Token == "" {
		c.Journal.fail("activation of the workflow: %d %s", a.status, a.body)
		return
	}
	c.tool(ctx, "workflows_activate", fmt.Sprintf(`{"workflow":"journey","confirmation_token":%q}`, asked.Token), nil)
}

// broadcast creates a broadcast and sends it.
func (c *caller) broadcast(ctx context.Context) {
	n := c.Work.number("broadcasts")
	body := fmt.Sprintf(`{"name":"News %[1]d","subject":"news-%[1]d","html":"<p>News</p><p><a href=\"{{unsubscribe_url}}\">Unsubscribe</a></p>","audience_kind":"list","audience_id":"readers","from_identity":"news@acme.example"}`, n)
	var made struct{ ID string }
	if !c.succeeds(ctx, request{method: http.MethodPost, path: "/v1/broadcasts", body: body, key: c.newKey()}, http.StatusCreated, &made) {
		return
	}
	if c.succeeds(ctx, request{method: http.MethodPost, path: "/v1/broadcasts/" + made.ID + "/send", body: `{"acknowledge_no_topic":true}`, key: c.newKey()}, http.StatusAccepted, nil) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.broadcasts[n] = made.ID
	}
}
