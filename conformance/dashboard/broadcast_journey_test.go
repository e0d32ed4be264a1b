package dashboard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/oauth/clients"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// readers is the number of contacts that the broadcasts of these tests reach.
const readers = 1_000

// toolCall is one call of an agent. Its answer is kept under the name as. take has arguments
// that come from the answers of earlier calls, as the path from the name of the call.
type toolCall struct {
	Name string              `json:"name"`
	As   string              `json:"as"`
	Args map[string]any      `json:"args"`
	Take map[string][]string `json:"take,omitempty"`
}

// journey returns the calls with which an agent takes a message to a segment from an idea to
// the send.
func journey(segment, slug, test string) []toolCall {
	draft := map[string][]string{"broadcast_id": {"composed", "broadcast_id"}}
	return []toolCall{
		{Name: "segments_preview_predicate", As: "people", Args: map[string]any{"source": `attr.city = "Readertown"`}},
		{Name: "templates_author", As: "template", Args: map[string]any{
			"slug": slug, "subject": "Issue for {{first_name}}",
			"html": `<html><body><h1>Dear {{first_name}}</h1><p>Grüße, {{offer}}. <a href="https://example.com/read?id={{reader_no}}">Read</a></p></body></html>`,
		}},
		{Name: "broadcasts_compose", As: "composed", Args: map[string]any{
			"name": "Issue", "template_id": slug, "audience_kind": "segment", "audience_id": segment, "topic_id": "events",
			"preview_text": "What is new", "template_data": map[string]any{"offer": "ten % off"}, "from_identity": "Fernhill <news@example.org>",
		}},
		{Name: "broadcasts_preview", As: "preview", Take: draft},
		{Name: "broadcasts_test_send", As: "test", Args: map[string]any{"recipients": []string{test}}, Take: draft},
		{Name: "broadcasts_send", As: "asked", Take: draft},
		{Name: "broadcasts_send", As: "sent", Take: map[string][]string{"broadcast_id": {"composed", "broadcast_id"}, "confirmation_token": {"asked", "confirmation_token"}}},
	}
}

// TestJourneyOfABroadcast takes a message from a segment that a person saves to the mailboxes
// of a thousand readers, on each database: an agent previews, writes, tests, confirms and
// sends it, with two client libraries. A mail server on the loopback receives the mail, and
// an independent parser reads it. The unsubscribe link of one mail changes the next audience.
func TestJourneyOfABroadcast(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		inbox := p.ReceiveMail(t)
		people := addReaders(t, p)
		boss := owner(t, p)
		boss.saveSegment("Readers", "readers", `attr.city = "Readertown"`)
		awaitMembers(t, p, "readers", readers)
		token := p.Token(t, p.MCPURL)

		seen := runInGo(t, p, token, journey("readers", "issue-one", "tester@example.com"))
		checkJourney(t, p, seen, inbox, people, readers)
		mail := inbox.To(t, people[0].Email)
		checkWithPython(t, mail)
		unsubscribe(t, p, mail)

		seen = runInNode(t, p, token, journey("readers", "issue-two", "tester@example.com"))
		checkJourney(t, p, seen, inbox, people[1:], readers-1)
		explain(t, p, token, seen, people[1].Email)
	})
}

// TestBroadcastByREST sends inline content to a list by REST alone.
func TestBroadcastByREST(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		inbox := p.ReceiveMail(t)
		people := addReaders(t, p)[:5]
		var draft, sent struct{ ID, Status string }
		call := func(path, body string, want int, into any) {
			t.Helper()
			got := p.Send(t, product.Request{Method: http.MethodPost, URL: p.BaseURL + path, Bearer: p.Live.APIKey, Body: body})
			if got.Status != want {
				t.Fatalf("%s: %d %s", path, got.Status, got.Body)
			}
			if err := json.Unmarshal([]byte(got.Body), into); err != nil {
				t.Fatal(err)
			}
		}
		var list lists.List
		call("/v1/lists", `{"name": "Five"}`, http.StatusCreated, &list)
		for _, c := range people {
			p.Send(t, product.Request{Method: http.MethodPatch, URL: p.BaseURL + "/v1/contacts/" + c.Email, Bearer: p.Live.APIKey, Body: `{"lists": {"add": ["five"]}}`})
		}
		call("/v1/broadcasts", `{"name": "By REST", "audience_kind": "list", "audience_id": "five", "html": "<p>Hi {{first_name}}</p>", "subject": "Hi", "from_identity": "news@example.org"}`, http.StatusCreated, &draft)
		var refused struct{ Code string }
		call("/v1/broadcasts/"+draft.ID+"/send", `{}`, http.StatusUnprocessableEntity, &refused)
		if refused.Code != "no_topic_acknowledgement_required" {
			t.Errorf("without a topic: %s", refused.Code)
		}
		call("/v1/broadcasts/"+draft.ID+"/send", `{"acknowledge_no_topic": true}`, http.StatusAccepted, &sent)
		for i, c := range people {
			if mail := inbox.To(t, c.Email); !strings.Contains(mail.HTML, fmt.Sprintf("<p>Hi Reader%d</p>", i)) {
				t.Errorf("to %s: %s", c.Email, mail.Raw)
			}
		}
	})
}

// segmentForm matches the form of the editor of segments.
var segmentForm = regexp.MustCompile(`(?s)<form[^>]* action="/dashboard/segments/new"[^>]*>(.*?)</form>`)

// saveSegment saves a segment in the editor.
func (b *browser) saveSegment(name, key, source string) {
	b.t.Helper()
	found := segmentForm.FindStringSubmatch(b.open("/dashboard/segments/new"))
	if found == nil {
		b.t.Fatal("the page has no editor of segments")
	}
	form := formValues(found[1])
	form.Set("name", name)
	form.Set("key", key)
	form.Set("source", source)
	if status, _, text := b.send("/dashboard/segments/new", form); status != http.StatusSeeOther {
		b.t.Fatalf("segment: %d %s", status, text)
	}
}

// addReaders stores contacts who live in Readertown and returns them.
func addReaders(t *testing.T, p *product.Product) []contacts.Contact {
	t.Helper()
	people := make([]contacts.Contact, readers)
	err := p.DB.InTx(t.Context(), func(ctx context.Context) error {
		for i := range people {
			people[i] = contacts.Contact{
				ID: core.NewID(), Email: fmt.Sprintf("reader.%d@example.com", i), Status: contacts.Active,
				Attributes:       map[string]any{"city": "Readertown", "first_name": fmt.Sprint("Reader", i)},
				TopicPreferences: []topics.Preference{{Topic: "events", SubscriptionStatus: "OPT_IN"}}, Lists: []lists.Ref{},
				CreatedAt: p.Clock.Now(), UpdatedAt: p.Clock.Now(),
			}
			if err := p.DB.Contacts().InsertContact(ctx, p.OrgID, people[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return people
}

// journeyTime is the limit for what the server does in the background of these tests.
const journeyTime = 90 * time.Second

// awaitMembers waits until the segment has a number of members.
func awaitMembers(t *testing.T, p *product.Product, key string, want int) {
	t.Helper()
	product.Await(t, journeyTime, func() error {
		found, err := p.DB.Segments().Segment(t.Context(), p.OrgID, key)
		if err == nil && found.MemberCount != want {
			err = fmt.Errorf("the segment has %d members", found.MemberCount)
		}
		return err
	})
}

// runInGo makes the calls with the Go library of the protocol.
func runInGo(t *testing.T, p *product.Product, token string, calls []toolCall) map[string]map[string]any {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "conformance", Version: "1.0.0"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: p.MCPURL + "/mcp", HTTPClient: &http.Client{Transport: bearerTransport(token)}, DisableStandaloneSSE: true, MaxRetries: -1,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close() //nolint:errcheck // the test is over
	seen := map[string]map[string]any{}
	for _, c := range calls {
		arguments := map[string]any{}
		for name, value := range c.Args {
			arguments[name] = value
		}
		for name, from := range c.Take {
			arguments[name] = seen[from[0]][from[1]]
		}
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.Name, Arguments: arguments})
		if err != nil || result.IsError {
			t.Fatalf("%s: %v, %+v", c.Name, err, result)
		}
		seen[c.As], _ = result.StructuredContent.(map[string]any)
	}
	return seen
}

// bearerTransport adds an access token to each request.
type bearerTransport string

func (b bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// runInNode makes the calls with the TypeScript library of the protocol.
func runInNode(t *testing.T, p *product.Product, token string, calls []toolCall) map[string]map[string]any {
	t.Helper()
	var seen map[string]map[string]any
	clients.Run(t, "mcp_broadcast.mjs", map[string]any{"mcp": p.MCPURL + "/mcp", "token": token, "calls": calls}, clients.Person{}, &seen)
	return seen
}

// checkJourney checks the answers of an agent, and waits until every reader has the mail
// once.
func checkJourney(t *testing.T, p *product.Product, seen map[string]map[string]any, inbox *product.Inbox, people []contacts.Contact, mailable int) {
	t.Helper()
	id, _ := seen["composed"]["broadcast_id"].(string)
	sentence, _ := seen["asked"]["message"].(string)
	if seen["people"]["count"] != float64(readers) || !strings.Contains(sentence, fmt.Sprintf("now to %d of the %d members of the segment \"Readers\"", mailable, readers)) ||
		seen["sent"]["status"] != "sending" || seen["test"]["sent"] != float64(1) {
		t.Fatalf("answers: %+v", seen)
	}
	product.Await(t, journeyTime, func() error {
		found, err := p.DB.Broadcasts().Broadcast(t.Context(), p.OrgID, id)
		if err == nil && found.State != "sent" {
			err = fmt.Errorf("%s: %d sent, %d failed, %d filtered", found.State, found.Sent, found.Failed, found.Filtered)
		}
		if err == nil && (found.Sent != mailable || found.Filtered != readers-mailable) {
			t.Fatalf("ended with %+v", found)
		}
		return err
	})
	if test := inbox.To(t, "tester@example.com"); !strings.HasPrefix(test.Header.Get("Subject"), "[TEST] ") {
		t.Errorf("test: %s", test.Raw)
	}
	for _, c := range people {
		if n := inbox.Count(c.Email, id); n != 1 {
			t.Fatalf("%s has %d mails of the broadcast", c.Email, n)
		}
	}
}

// python reads a mail and prints what a mail program shows of it.
const python = `
import email, email.policy, json, sys
m = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.default)
print(json.dumps({"defects": [str(d) for p in m.walk() for d in p.defects], "type": m.get_content_type(),
  "headers": {k.lower(): str(v) for k, v in m.items()},
  "parts": {p.get_content_type(): p.get_content() for p in m.walk() if not p.is_multipart()}}))
`

// checkWithPython checks the header fields and both parts of a mail as Python's parser reads
// them.
func checkWithPython(t *testing.T, mail *product.Mail) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		enginetest.SkipMissing(t, "python3 is not on this machine: the mail cannot be read by another parser")
	}
	run := exec.CommandContext(t.Context(), "python3", "-c", python)
	run.Stdin = strings.NewReader(mail.Raw)
	var complaints bytes.Buffer
	run.Stderr = &complaints
	text, err := run.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	var read struct {
		Defects        []string
		Type           string
		Headers, Parts map[string]string
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Defects) > 0 || read.Type != "multipart/alternative" || len(read.Parts) != 2 {
		t.Errorf("defects %v, type %s, %d parts", read.Defects, read.Type, len(read.Parts))
	}
	for name, want := range map[string]string{
		"from": `^Fernhill <news@example\.org>$`, "to": `^reader\.0@example\.com$`, "subject": `^Issue for Reader0$`, "date": `\d{4}`, "message-id": `^<.+@.+>$`,
		"mime-version": `^1\.0$`, "list-unsubscribe": `^<http://localhost:\d+/u/[\w.~-]+>$`, "list-unsubscribe-post": `^List-Unsubscribe=One-Click$`,
	} {
		if !regexp.MustCompile(want).MatchString(read.Headers[name]) {
			t.Errorf("%s: %q", name, read.Headers[name])
		}
	}
	for part, want := range map[string]string{"text/html": "<h1>Dear Reader0</h1>", "text/plain": "Grüße, ten % off."} {
		if !strings.Contains(read.Parts[part], want) {
			t.Errorf("%s: %s", part, read.Parts[part])
		}
	}
}

// unsubscribe opens the link of a mail, which changes nothing, and then unsubscribes with one
// click (RFC 8058).
func unsubscribe(t *testing.T, p *product.Product, mail *product.Mail) {
	t.Helper()
	link := strings.Trim(mail.Header.Get("List-Unsubscribe"), "<>")
	subscribed := func() string {
		got := p.Send(t, product.Request{URL: p.BaseURL + "/v1/contacts/" + mail.To[0], Bearer: p.Live.APIKey})
		return got.Body
	}
	if got := p.Send(t, product.Request{URL: link}); got.Status != http.StatusOK || !strings.Contains(subscribed(), `"OPT_IN"`) {
		t.Fatalf("opened: %d, %s", got.Status, subscribed())
	}
	got := p.Send(t, product.Request{Method: http.MethodPost, URL: link, Body: "List-Unsubscribe=One-Click", Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}})
	if got.Status != http.StatusOK || !strings.Contains(subscribed(), `"OPT_OUT"`) {
		t.Fatalf("unsubscribed: %d, %s", got.Status, subscribed())
	}
}

// explain checks that a message of the broadcast is in the list of messages, and that the
// diagnosis tells its course.
func explain(t *testing.T, p *product.Product, token string, seen map[string]map[string]any, address string) {
	t.Helper()
	_, found := callTool(t, p, token, "messages_search", map[string]any{"recipient": address})
	items, _ := found["items"].([]any)
	if len(items) != 2 {
		t.Fatalf("messages of %s: %+v", address, found)
	}
	newest, _ := items[0].(map[string]any)
	_, diagnosis := callTool(t, p, token, "messages_diagnose", map[string]any{"message_id": newest["id"]})
	if diagnosis["diagnosis"] == nil || newest["status"] != "Send" {
		t.Errorf("diagnosis of %+v: %+v", newest, diagnosis)
	}
	_, health := callTool(t, p, token, "reports_get_sending_health", map[string]any{})
	totals, _ := health["totals"].(map[string]any)
	if sent, _ := totals["sent"].(float64); sent < 2*readers-1 {
		t.Errorf("report: %+v", health)
	}
}
