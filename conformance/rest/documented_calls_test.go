package rest_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/senders"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/rest/docs/reference/examples"
	"github.com/mailhelm/mailhelm/rest/docs/reference/samples"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/tools"
)

// documentedCalls is a product with the objects that the examples of the operations name.
type documentedCalls struct {
	*api
	token string
	// ids has, for each id that the examples name, the id of an object of this product. ended
	// has the documented id of each object that a call has ended.
	ids, ended map[string]string
	// home is a folder with the settings of curl.
	home string
}

// TestGoldenDocumentedCalls makes the call of each operation's example: the route with the
// documented command of curl, and the tool. Reads come before writes, and writes before
// operations that delete. The answers must have the form of the stored ones, which the
// documentation shows. With -update it stores an answer whose form has changed.
func TestGoldenDocumentedCalls(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		enginetest.SkipMissing(t, "curl is not on this machine: the documented commands cannot be run")
	}
	d := newDocumented(t)
	operations := catalogue.Operations(catalogue.Domains{})
	slices.SortStableFunc(operations, func(a, b core.Operation) int { return int(a.Info().Effect) - int(b.Info().Effect) })
	for _, op := range operations {
		got := examples.Answer{}
		at := slices.IndexFunc(rest.Routes(), func(r rest.Route) bool { return r.Operation == op.Info().Name })
		if at >= 0 {
			d.renewDraft(t, op)
			got.Status, got.Body = d.curl(t, op, rest.Routes()[at])
		}
		if slices.Contains(tools.Table(), op.Info().Name) {
			d.renewDraft(t, op)
			got.Result = d.tool(t, op)
		}
		d.compare(t, op, got)
		if op.Info().Name == ranInEveryLanguage {
			d.runSamples(t, op, rest.Routes()[at], got.Body)
		}
	}
}

// ranInEveryLanguage is the operation whose programs in all languages are run. It is a
// write with an idempotency key, so each program gets the answer that curl got.
const ranInEveryLanguage = "lists_create"

// runSamples runs the documented programs in Go, TypeScript and Python. Each must print the
// body.
func (d *documentedCalls) runSamples(t *testing.T, op core.Operation, route rest.Route, body []byte) {
	t.Helper()
	request, err := samples.Of(op.Info(), samples.Route{Method: route.Method, Path: route.Path, Items: route.Items, TakesBody: route.TakesBody()}, d.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	for _, sample := range []struct {
		file, text string
		command    []string
	}{
		{"sample.go", request.Go(), []string{"go", "run"}},
		{"sample.mjs", request.TypeScript(), []string{"node"}},
		{"sample.py", request.Python(), []string{"python3"}},
	} {
		t.Run(sample.file, func(t *testing.T) {
			if _, err := exec.LookPath(sample.command[0]); err != nil {
				enginetest.SkipMissing(t, sample.command[0]+" is not on this machine: a documented program cannot be run")
			}
			file := filepath.Join(d.home, sample.file)
			if err := os.WriteFile(file, []byte(sample.text), 0o600); err != nil {
				t.Fatal(err)
			}
			out := d.run(t, sample.command[0], append(sample.command[1:], file)...)
			if strings.TrimSpace(string(out)) != strings.TrimSpace(string(body)) {
				t.Errorf("%s printed %s, want %s", sample.file, out, body)
			}
		})
	}
}

// addTags stores two tags, which only the dashboard can create.
func (d *documentedCalls) addTags(t *testing.T) {
	t.Helper()
	for i, tag := range []tags.Tag{{Name: "newsletter", Color: "#2563eb"}, {Name: "wholesale", Color: "#16a34a"}} {
		tag.ID, tag.CreatedAt = core.NewID(), d.Clock.Now().Add(time.Duration(i)*time.Second)
		if err := d.DB.Tags().InsertTag(t.Context(), d.OrgID, tag); err != nil {
			t.Fatal(err)
		}
	}
}

// takenSender is an address that another member has verified.
const takenSender = "taken@example.com"

// addSenders stores a verified sender of the API key, and one of another member.
func (d *documentedCalls) addSenders(t *testing.T) {
	t.Helper()
	now := d.Clock.Now()
	person, err := d.DB.Users().UserByEmail(t.Context(), d.UserEmail)
	if err != nil {
		t.Fatal(err)
	}
	d.ids[examples.SenderID] = core.NewID()
	for _, c := range []senders.Claim{
		{ID: d.ids[examples.SenderID], Owner: d.keyID(t), Email: "grace@example.com"}, {ID: core.NewID(), Owner: person.ID, Email: takenSender},
	} {
		c.VerifiedAt, c.CreatedAt, c.CodeExpiresAt = &now, now, now
		if stored, err := d.DB.VerifiedSenders().InsertClaim(t.Context(), d.OrgID, c); err != nil || !stored {
			t.Fatalf("no verified sender: %v", err)
		}
	}
}

// keyID returns the id of the live API key.
func (d *documentedCalls) keyID(t *testing.T) string {
	t.Helper()
	name, ok := access.ParseAPIKey(d.Live.APIKey)
	keys, err := d.DB.Keys().APIKeys(t.Context(), name.Environment, name.Prefix)
	if !ok || err != nil || len(keys) != 1 {
		t.Fatalf("API keys: %v, %v", keys, err)
	}
	return keys[0].ID
}

// newDocumented starts a product and creates the objects.
func newDocumented(t *testing.T) *documentedCalls {
	t.Helper()
	// Which recipients got mail in the last 30 days depends on the date.
	a := start(t, product.Options{
		Past: true, Mail: true, WebhookCAs: x509.NewCertPool(), StartsAt: time.Date(2026, 11, 17, 10, 0, 0, 0, time.UTC),
	})
	d := &documentedCalls{api: a, token: a.Token(t, a.MCPURL), ids: map[string]string{}, ended: map[string]string{}, home: t.TempDir()}
	if err := os.WriteFile(filepath.Join(d.home, ".curlrc"), []byte("write-out = \"\\n%{http_code}\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{examples.DraftID, examples.SentID, examples.ScheduledID} {
		d.ids[id] = id
	}
	d.ids[examples.AttributeID] = a.attributeID(t, "city")
	d.addTags(t)
	d.addSenders(t)
	d.ids[examples.PropertyID] = d.created(t, "/v1/activity-properties", `{"activity_name":"order_placed","property":"currency","type":"string"}`, "id")
	d.ids[examples.JobID] = d.created(t, "/v1/contacts/bulk", `{"contacts":[{"email":"first@example.com"},{"email":"second@example.com"}]}`, "job_id")
	a.do(t, "POST", "/v1/activities", `[{"name":"order_placed","email":"`+a.Contact+`","properties":{"total":18,"currency":"EUR"}}]`).want(202)
	d.ids[examples.MessageID] = a.first(t, "/v1/messages?status=Bounce&limit=1")["id"].(string)
	suppressed := a.first(t, "/v1/suppressions?reason=bounce&limit=1")["email"].(string)
	d.ids[examples.Suppressed] = suppressed
	d.ids[strings.ReplaceAll(examples.Suppressed, "@", "%40")] = strings.ReplaceAll(suppressed, "@", "%40")
	product.Await(t, time.Minute, func() error {
		if len(a.rows(t, "/v1/segments/good-customers/members?limit=1")) == 0 {
			return fmt.Errorf("the segment has no members")
		}
		return nil
	})
	d.nameRun(t)
	d.ids[examples.AssetID], _ = a.first(t, "/v1/assets?limit=1")["id"].(string)
	d.ids[examples.InboxID] = examples.InboxID
	d.addInbox(t, examples.InboxID, d.Clock.Now().AddDate(0, 1, 0))
	d.addReceiving(t)
	d.addDomainAuth(t)
	return d
}

// addInbox stores a temporary inbox with a message.
func (d *documentedCalls) addInbox(t *testing.T, id string, expires time.Time) {
	t.Helper()
	now, store := d.Clock.Now(), d.DB.Inboxes()
	i := inboxes.Inbox{
		ID: id, OrgID: d.OrgID, LocalPart: "k3v9x2m7" + id[len(id)-2:], Visibility: inboxes.Shared, Label: "sign-up test", CreatedAt: now, ExpiresAt: expires,
		First: inboxes.Token{ID: core.NewID(), InboxID: id, Hash: []byte(id), Prefix: "K7QW2M4X", Label: "default", CreatedAt: now},
	}
	if _, err := store.InsertInbox(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	from := inbound.Address{Address: "no-reply@shop.example", Name: "Shop"}
	to := i.LocalPart + "@inbox.localhost"
	m := inbound.Message{
		ID: core.NewID(), Sender: "bounce@shop.example", ReceivedAt: now, Size: 1024, RawKey: objects.RawKey(d.OrgID, id), StoreID: objects.FilesID,
		Verdicts: inbound.Verdicts{SPF: inbound.Pass, DKIM: inbound.Pass, DMARC: inbound.Pass, Spam: inbound.Pass, Virus: inbound.Pass},
		From:     &from, To: []inbound.Address{{Address: to}}, Subject: "Your code is 483920", Date: "Tue, 17 Nov 2026 10:00:00 +0000",
		HeaderID: "<1@shop.example>", Headers: []inbound.Header{{Name: "Subject", Value: "Your code is 483920"}}, Text: "Your code is 483920. It works for ten minutes.",
	}
	target := inboxes.Target{OrgID: d.OrgID, InboxID: id}
	stored := inboxes.Stored{Seq: 1, Recipients: []string{to}, Message: m, Extracted: inboxes.Extracted{Codes: []string{"483920"}}}
	_, err := store.AddReceived(t.Context(), []inboxes.Arrival{{Target: target, Stored: stored}})
	if err == nil {
		err = store.CountReceived(t.Context(), []inboxes.Count{{Target: target, Accepted: 1}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// created makes a record by POST and returns its member with this name.
func (d *documentedCalls) created(t *testing.T, path, body, member string) string {
	t.Helper()
	var record map[string]any
	d.do(t, "POST", path, body).decode(&record)
	id, _ := record[member].(string)
	if id == "" {
		t.Fatalf("%s: %v", path, record)
	}
	return id
}

// endsDraft has the operations after whose call the broadcast is no draft any more.
var endsDraft = []string{"broadcasts_send", "broadcasts_delete"}

// renewDraft creates a draft for a call of an operation that ends it. Other operations use
// the draft of the demo, which has the documented id.
func (d *documentedCalls) renewDraft(t *testing.T, op core.Operation) {
	t.Helper()
	if !slices.Contains(endsDraft, op.Info().Name) {
		return
	}
	d.ended[d.ids[examples.DraftID]] = examples.DraftID
	d.ids[examples.DraftID] = d.created(t, "/v1/broadcasts",
		`{"name":"Spring news","template_id":"welcome","audience_kind":"list","audience_id":"newsletter","topic_id":"brewing-tips"}`, "id")
}

// actual replaces the documented ids in a text by ids of the product.
func (d *documentedCalls) actual(text string) string {
	for documented, id := range d.ids {
		text = strings.ReplaceAll(text, documented, id)
	}
	return text
}

// curl runs the documented command of a route. It returns the status and the body.
func (d *documentedCalls) curl(t *testing.T, op core.Operation, route rest.Route) (int, json.RawMessage) {
	t.Helper()
	request, err := samples.Of(op.Info(), samples.Route{Method: route.Method, Path: route.Path, Items: route.Items, TakesBody: route.TakesBody()}, d.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	out := d.run(t, "sh", "-c", d.actual(request.Curl()))
	end := max(0, bytes.LastIndexByte(out, '\n'))
	status, err := strconv.Atoi(string(bytes.TrimSpace(out[end:])))
	if err != nil || status != route.Success && !(route.MayCreate && status == 201) {
		t.Errorf("%s: status %d, want %d: %s", op.Info().Name, status, route.Success, out)
	}
	if status == 204 {
		return status, nil
	}
	return status, json.RawMessage(bytes.TrimSpace(out[:end]))
}

// run runs a program with the API key in its environment, and returns its output.
func (d *documentedCalls) run(t *testing.T, name string, arguments ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Env = append(os.Environ(), "API_KEY="+d.Live.APIKey, "CURL_HOME="+d.home)
	var failures bytes.Buffer
	cmd.Stderr = &failures
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s %v: %v\n%s%s", name, arguments, err, out, failures.String())
	}
	return out
}

// tool calls the tool of an operation and returns the structured content of its result. It
// confirms the call if the tool asks for that.
func (d *documentedCalls) tool(t *testing.T, op core.Operation) json.RawMessage {
	t.Helper()
	arguments := op.Info().ExampleOn(core.Agent)
	if arguments == "" {
		arguments = "{}"
	}
	arguments = d.actual(arguments)
	answer := d.callTool(t, d.token, op.Info().Name, arguments).want(200)
	var result map[string]any
	answer.decode(&result)
	if token, asks := result["confirmation_token"].(string); asks {
		result = nil
		answer = d.callTool(t, d.token, op.Info().Name, strings.TrimSuffix(arguments, "}")+`,"confirmation_token":"`+token+`"}`).want(200)
		answer.decode(&result)
	}
	if _, refused := result["code"].(string); refused {
		t.Errorf("%s: the tool refuses its example: %s", op.Info().Name, answer.body)
	}
	return answer.body
}
