package mixed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// requestTime limits one request.
const requestTime = 40 * time.Second

// caller makes one call at a time. Its choices come from a seeded generator.
type caller struct {
	*Work
	number int
	chance *rand.Rand
	client *http.Client
	calls  int // for idempotency keys
}

func (w *Work) newCaller(number int) *caller {
	return &caller{
		Work: w, number: number, chance: rand.New(rand.NewPCG(w.Seed, uint64(number))),
		client: &http.Client{Timeout: requestTime, Transport: &http.Transport{MaxIdleConnsPerHost: 2}},
	}
}

// request is a call of a REST route, or of the agent endpoint if tool is set.
type request struct {
	method, path, body string
	tool               string // its arguments are in body
	key                string // idempotency key, "" for none
}

// newKey returns an idempotency key that no other call has.
func (c *caller) newKey() string {
	c.calls++
	return fmt.Sprintf("key-%d-%d-%d", c.Seed, c.number, c.calls)
}

// answer is a response, or an error if there was none.
type answer struct {
	status int
	header http.Header
	body   []byte
	err    error
}

// definite makes a call at random servers until it has a definite answer. It returns false if the
// context ends before that. began is the time at which the last request began.
func (c *caller) definite(ctx context.Context, r request) (a answer, began time.Time, ok bool) {
	for ctx.Err() == nil {
		server := c.chance.IntN(len(c.APIs))
		began = time.Now()
		a = c.send(ctx, server, r)
		switch {
		case ctx.Err() != nil:
			return a, began, false
		case a.err != nil:
			c.Journal.broken(server, began, a.err)
		case repeatable(a):
			c.Journal.again(fmt.Sprintf("%d with Retry-After", a.status))
		default:
			if a.status < 300 {
				c.Journal.ok(began)
			}
			return a, began, true
		}
		// Callers repeat sooner than Retry-After says, so that there are more calls during a fault.
		c.sleep(ctx, 100*time.Millisecond+time.Duration(c.chance.Int64N(int64(400*time.Millisecond))))
	}
	return a, began, false
}

// repeatable reports whether the answer says to repeat the call later. The agent endpoint says that
// the storage is away in the message and in Retry-After.
func repeatable(a answer) bool {
	switch a.status {
	case http.StatusServiceUnavailable, http.StatusConflict, http.StatusTooManyRequests, http.StatusOK:
		return a.header.Get("Retry-After") != ""
	}
	return false
}

// send makes one request.
func (c *caller) send(ctx context.Context, server int, r request) answer {
	method, url, body, bearer := r.method, c.APIs[server]+r.path, r.body, c.Key
	if r.tool != "" {
		method, url, bearer = http.MethodPost, c.MCPs[server]+"/mcp", c.Token
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"dev.mailhelm/idempotencyKey":%q}}}`, r.tool, r.body, r.key)
	}
	sent, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	sent.Header.Set("Authorization", "Bearer "+bearer)
	if body != "" {
		sent.Header.Set("Content-Type", "application/json")
	}
	if r.tool != "" {
		sent.Header.Set("Accept", "application/json, text/event-stream")
		sent.Header.Set("MCP-Protocol-Version", "2025-11-25")
		sent.Host = c.MCPHost
	} else if r.key != "" {
		sent.Header.Set("Idempotency-Key", r.key)
	}
	got, err := c.client.Do(sent)
	if err != nil {
		return answer{err: err}
	}
	defer got.Body.Close()
	content, err := io.ReadAll(got.Body)
	if err != nil {
		return answer{err: err}
	}
	return answer{status: got.StatusCode, header: got.Header, body: content}
}

// succeeds makes a call until it has a definite answer, which must have the status want. It parses
// the answer into the value into, unless that is nil.
func (c *caller) succeeds(ctx context.Context, r request, want int, into any) bool {
	a, _, ok := c.definite(ctx, r)
	if !ok {
		return false
	}
	if a.status != want {
		c.Journal.fail("%s %s%s: %d %s", r.method, r.path, r.tool, a.status, a.body)
		return false
	}
	if into != nil {
		if err := json.Unmarshal(a.body, into); err != nil {
			c.Journal.fail("%s %s%s: %v %s", r.method, r.path, r.tool, err, a.body)
			return false
		}
	}
	return true
}

// tool calls a tool until it has a definite result without an error, which it parses.
func (c *caller) tool(ctx context.Context, name, arguments string, into any) bool {
	var message struct {
		Error  json.RawMessage
		Result struct {
			IsError           bool
			StructuredContent json.RawMessage
		}
	}
	for key := c.newKey(); ; c.sleep(ctx, 200*time.Millisecond) {
		if !c.succeeds(ctx, request{tool: name, body: arguments, key: key}, http.StatusOK, &message) {
			return false
		}
		var failed struct {
			RetryAfter float64 `json:"retry_after"`
		}
		_ = json.Unmarshal(message.Result.StructuredContent, &failed) // without the member it is 0
		if message.Result.IsError && failed.RetryAfter > 0 {
			c.Journal.again("tool result with retry_after")
			message.Result.IsError = false
			continue
		}
		break
	}
	if message.Error != nil || message.Result.IsError {
		c.Journal.fail("the tool %s: %s %s", name, message.Error, message.Result.StructuredContent)
		return false
	}
	if into == nil {
		return true
	}
	if err := json.Unmarshal(message.Result.StructuredContent, into); err != nil {
		c.Journal.fail("the tool %s: %v %s", name, err, message.Result.StructuredContent)
		return false
	}
	return true
}

func (c *caller) sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
