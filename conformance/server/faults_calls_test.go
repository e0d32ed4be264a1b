package server

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/templates"
	bulkstore "github.com/mailhelm/mailhelm/storage/bulk"
)

// manner is the expected result of a call while the sending account fails. The call may be
// refused, may lack the account's data, or may not use the account.
type manner string

const (
	// refused: the operation needs the account, so it fails.
	refused manner = "refused"
	// partial: the answer leaves out the data that the account would supply.
	partial manner = "partial"
	// untouched: the call does not use the account, so it succeeds.
	untouched manner = "untouched"
)

// call is one call of an operation, by its REST route or its MCP tool. ROUND in the path or
// the body stands for the name of the test round, so that each round writes its own
// contacts.
type call struct {
	operation    string
	method, path string // of the REST route; "" for a tool
	body         string // JSON of the request body, or of the tool's arguments
	manner       manner
}

func (c call) name() string {
	if c.method == "" {
		return "tool " + c.operation
	}
	return c.method + " " + c.path
}

const messageID = "message-of-faults"

// draftOfFaults has the arguments of a call that creates a broadcast.
const draftOfFaults = `{"name":"Created ROUND","html":"<p>Hello</p>","subject":"Hello","audience_kind":"list","audience_id":"put-ROUND"}`

// farAhead is the time for which broadcasts are scheduled. None is due during the tests, so
// no dispatcher asks the account beside the calls.
var farAhead = time.Now().AddDate(0, 6, 0).Format(time.RFC3339)

// listed has the calls that cannot be built from the declarations of operations alone.
// These are the calls of operations that use the sending account, and the calls for whose
// arguments neither the input schema nor [seeded] has values.
var listed = append([]call{
	{"account_get", "GET", "/v1/account", "", partial},
	{"sending_readiness_check", "", "", `{}`, refused},

	{"suppressions_list", "GET", "/v1/suppressions", "", refused},
	{"suppressions_list", "", "", `{}`, refused},
	{"suppressions_get", "GET", "/v1/suppressions/suppressed%40example.com", "", refused},
	{"suppressions_check_address", "", "", `{"email":"suppressed@example.com"}`, refused},

	{"templates_author", "", "", `{"slug":"faults-ROUND","html":"<p>Hello</p>"}`, untouched},

	// a test send first reads the rate of the account
	{"templates_test_send", "", "", `{"slug":"welcome","recipients":["test-ROUND@example.com"]}`, refused},
	{"broadcasts_test_send", "POST", "/v1/broadcasts/drafted-ROUND/test", `{"recipients":["test@example.com"]}`, refused},
	{"broadcasts_test_send", "", "", `{"broadcast_id":"drafted-ROUND","recipients":["test@example.com"]}`, refused},
	{"broadcasts_create", "POST", "/v1/broadcasts", draftOfFaults, untouched},
	{"broadcasts_compose", "", "", draftOfFaults, untouched},
	{"broadcasts_send", "POST", "/v1/broadcasts/sent-ROUND/send", `{"acknowledge_no_topic":true,"scheduled_at":"` + farAhead + `"}`, untouched},
	{"broadcasts_send", "", "", `{"broadcast_id":"drafted-ROUND","acknowledge_no_topic":true}`, untouched},
	{"broadcasts_delete", "DELETE", "/v1/broadcasts/deleted-ROUND", "", untouched},

	{"messages_diagnose", "", "", `{"message_id":"` + messageID + `"}`, partial},

	{"contacts_lookup", "GET", "/v1/contacts/read-ROUND%40example.com", "", refused},
	{"contacts_lookup", "", "", `{"email":"read-ROUND@example.com"}`, refused},
	{"contacts_create", "POST", "/v1/contacts", `{"email":"new-ROUND@example.com"}`, refused},
	{"contacts_replace", "PUT", "/v1/contacts/put-ROUND%40example.com", `{}`, refused},
	{"contacts_update", "PATCH", "/v1/contacts/patch-ROUND%40example.com", `{"attributes":{"city":"Graz"}}`, refused},
	{"contacts_archive", "DELETE", "/v1/contacts/delete-ROUND%40example.com", "", refused},
	{"contacts_archive", "", "", `{"email":"archive-ROUND@example.com"}`, refused},
	{"contacts_upsert", "", "", `{"email":"upsert-ROUND@example.com","attributes":{"city":"Graz"}}`, refused},
	{"contacts_upsert_by_external_id", "PUT", "/v1/contacts/by-external-id/named-ROUND", `{"email":"named-ROUND@example.com"}`, refused},
	{"contacts_archive_by_external_id", "DELETE", "/v1/contacts/by-external-id/gone-ROUND", "", refused},
	{"contacts_identify", "POST", "/v1/contacts/identify", `{"email":"visitor-ROUND@example.com"}`, refused},
	// for a contact that exists, contacts_identify writes nothing to the sending account
	{"contacts_identify", "POST", "/v1/contacts/identify", `{"email":"read-ROUND@example.com"}`, untouched},
	{"contacts_bulk", "POST", "/v1/contacts/bulk", `{"contacts":[{"external_id":"bulk-ROUND","email":"bulk-ROUND@example.com"}]}`, untouched},
	{"contacts_set_list_membership", "", "", `{"contact":"read-ROUND@example.com","add":["read-ROUND"]}`, untouched},
	{"lists_create", "POST", "/v1/lists", `{"name":"Created ROUND"}`, untouched},
	{"lists_update", "PUT", "/v1/lists/put-ROUND", `{"name":"Put"}`, untouched},
	{"lists_delete", "DELETE", "/v1/lists/delete-ROUND", "", untouched},

	{"bundles_import", "POST", "/v1/import?dry_run=false", `{"manifest":{"lists":{"imported-ROUND":{"name":"Imported"}}}}`, untouched},

	{"activities_record", "POST", "/v1/activities", `[{"name":"faults","email":"read-ROUND@example.com"}]`, untouched},
	{"activities_record", "", "", `{"activities":[{"name":"faults","email":"read-ROUND@example.com"}]}`, untouched},
	{"activity_properties_create", "POST", "/v1/activity-properties", `{"activity_name":"faults","property":"created","type":"string"}`, untouched},
	{"activity_properties_replace", "PUT", "/v1/activity-properties/" + putProperty, `{"activity_name":"faults","property":"put","type":"number"}`, untouched},
	{"activity_properties_delete", "DELETE", "/v1/activity-properties/" + deleteProperty, "", untouched},
	{"activity_properties_preview", "POST", "/v1/activity-properties/" + readProperty + "/preview", `{"activity_name":"faults","property":"read","type":"number"}`, untouched},

	{"segments_preview_predicate", "POST", "/v1/segments/preview", `{"source":"attr.orders > 1"}`, untouched},
	{"segments_preview_predicate", "", "", `{"source":"attr.orders > 1"}`, untouched},

	{"attributes_create", "POST", "/v1/attributes", `{"name":"created","type":"string"}`, untouched},
	{"attributes_update", "PUT", "/v1/attributes/put-ROUND", `{"name":"put","type":"enum","enum_values":["a"]}`, untouched},
	{"attributes_delete", "DELETE", "/v1/attributes/delete-ROUND", "", untouched},
	{"attributes_preview", "POST", "/v1/attributes/read-ROUND/preview", `{"name":"read","type":"number"}`, untouched},
	{"topics_list", "GET", "/v1/topics", "", refused},
	{"topics_create", "POST", "/v1/topics", `{"name":"created","default_subscription_status":"OPT_OUT"}`, refused},
	{"topics_update", "PUT", "/v1/topics/put", `{"description":"ROUND"}`, refused},
	{"topics_delete", "DELETE", "/v1/topics/delete", "", refused},
	{"audience_get_schema", "", "", `{}`, refused},

	{"verified_senders_create", "POST", "/v1/verified-senders", `{"email":"ROUND@example.com"}`, untouched},
	{"verified_senders_confirm", "POST", "/v1/verified-senders/" + readSender + "/confirm", `{"code":"123456"}`, untouched},
	{"verified_senders_delete", "DELETE", "/v1/verified-senders/" + deleteSender, "", untouched},
	{"inboxes_create", "POST", "/v1/inboxes", `{"label":"ROUND"}`, untouched},
	{"inboxes_update", "PATCH", "/v1/inboxes/" + readInbox, `{"label":"ROUND"}`, untouched},
	{"inboxes_delete", "DELETE", "/v1/inboxes/" + deleteInbox, "", untouched},
	{"inbox_pull_tokens_create", "POST", "/v1/inboxes/" + readInbox + "/pull-tokens", `{"label":"ROUND"}`, untouched},
	{"inbox_pull_tokens_revoke", "DELETE", "/v1/inboxes/" + readInbox + "/pull-tokens/" + deleteProperty, "", untouched},
}, slices.Concat(callsOfWorkflows, callsOfReceiving, callsOfDomainAuth)...)

// prepared has the names of the contacts that exist at the start of a test round. In the
// round "slow" the contact "read" has the external id "read-slow".
var prepared = []string{"read", "put", "patch", "delete", "archive", "gone", "upsert"}

// Ids that occur in the paths of calls: of a bulk job, and of the activity properties and the
// inboxes that calls read, change and delete.
const (
	bulkID         = "01900000-0000-7000-8000-000000000001"
	readProperty   = "01900000-0000-7000-8000-000000000002"
	putProperty    = "01900000-0000-7000-8000-000000000003"
	deleteProperty = "01900000-0000-7000-8000-000000000004"
	readInbox      = "01900000-0000-7000-8000-000000000005"
	deleteInbox    = "01900000-0000-7000-8000-000000000006"
)

// faultScene is a running product with the data that the calls need, and the name of the
// current test round.
type faultScene struct {
	p     *product.Product
	agent string
	round string
	// source is the id of a source of DMARC reports.
	source string
	// image is the id of an image.
	image string
}

func newFaultScene(t *testing.T, opts product.Options) *faultScene {
	t.Helper()
	if opts.WebhookCAs == nil {
		opts.WebhookCAs = x509.NewCertPool() // webhooks on the loopback are valid, and nothing is sent
	}
	opts.Mail = true // a server without mail cannot verify senders
	s := &faultScene{p: product.Start(t, opts)}
	sent := messages.Event{
		ID: "event-of-faults", MessageID: messageID, Type: messages.Delivery, OccurredAt: s.p.Clock.Now().Add(-time.Hour), Recipient: "reader@example.com",
		Mail: messages.Mail{From: "shop@example.com", To: []string{"reader@example.com"}, SentAt: s.p.Clock.Now().Add(-time.Hour), Template: "welcome", Channel: "marketing"},
	}
	if _, err := s.p.DB.Messages().RecordEvents(t.Context(), s.p.OrgID, []messages.Event{sent}, s.p.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	s.fillMirror(t)
	s.insertJourney(t)
	s.insertInboxes(t)
	s.insertReceived(t)
	waiting := bulk.Job{ID: bulkID, Status: bulk.Queued, CreatedAt: s.p.Clock.Now()}
	if err := bulkstore.NewJobStore(s.p.DB.DB).InsertBulkJob(t.Context(), s.p.OrgID, waiting, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// fillMirror adds a template and a suppressed address to the sending account. It then
// copies channels and templates from the account to the database.
func (s *faultScene) fillMirror(t *testing.T) {
	t.Helper()
	p := s.p
	seeded := p.Simulator.Seed(t.Context(), p.OrgID, simulator.Setup{
		Templates:  []sending.Template{{Name: "welcome", Subject: "Welcome", Text: "Hello"}},
		Suppressed: []sending.Suppressed{{Email: "suppressed@example.com", Reason: sending.SuppressedByBounce, At: p.Clock.Now().Add(-time.Hour)}},
	})
	parts := channels.New(channels.Config{Store: p.DB.Channels(), Account: p.Simulator, Clock: p.Clock.Now, Log: slog.New(slog.DiscardHandler)})
	p.AwaitJob(t, templates.SyncArgs{}.Kind())
	names := templates.New(templates.Config{Store: p.DB.Templates(), Managed: p.DB.ManagedTemplates(), Account: p.Simulator, Clock: p.Clock.Now, Log: slog.New(slog.DiscardHandler)})
	if err := errors.Join(seeded, parts.Sync(t.Context(), p.OrgID), names.Sync(t.Context(), p.OrgID)); err != nil {
		t.Fatal(err)
	}
}

// begin prepares a test round. It creates the contacts, lists, topics, attributes and
// activity properties that the calls use, and moves the clock so that caches expire. The
// sending account must work.
func (s *faultScene) begin(t *testing.T, round string) {
	t.Helper()
	s.p.Clock.Advance(2 * time.Minute)
	s.round, s.agent = round, s.p.Token(t, s.p.MCPURL)
	for _, contact := range prepared {
		made := s.do(t, call{operation: "contacts_upsert", body: `{"email":"` + contact + `-ROUND@example.com","external_id":"` + contact + `-ROUND"}`})
		if made.err != nil || made.isError || made.status != http.StatusOK {
			t.Fatalf("no contact: %v %d %s", made.err, made.status, made.body)
		}
	}
	s.registerAttributes(t)
	s.promoteProperties(t)
	s.makeLists(t)
	s.makeBroadcasts(t)
	s.makeWorkflows(t)
	s.forgetMints(t)
	s.makeReceiving(t)
	s.makeReported(t)
	s.renewSenders(t)
	s.makeTopics(t)
	s.makeImage(t)
	s.p.Clock.Advance(2 * time.Minute)
}

// makeImage imports an image, which exists after the first round, and reads its id.
func (s *faultScene) makeImage(t *testing.T) {
	t.Helper()
	const gif = "R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs="
	made := s.do(t, call{
		operation: "bundles_import", method: "POST", path: "/v1/import?dry_run=false",
		body: `{"manifest":{"images":["read.gif"]},"images":{"read.gif":"` + gif + `"}}`,
	})
	found, err := s.p.DB.Assets().AssetsPage(t.Context(), s.p.OrgID, "", 1)
	if err != nil || len(found) == 0 {
		t.Fatalf("no image: %v %d %s", err, made.status, made.body)
	}
	s.image = found[0].ID
}

// registerAttributes creates the contact attributes that the calls of a test round read,
// change and delete. It first deletes those of the previous round.
func (s *faultScene) registerAttributes(t *testing.T) {
	t.Helper()
	store, named := s.p.DB.Attributes(), []string{"read", "put", "delete"}
	registered, err := store.Attributes(t.Context(), s.p.OrgID)
	for _, a := range registered {
		if slices.Contains(append(named, "created"), a.Name) {
			err = errors.Join(err, store.DeleteAttribute(t.Context(), s.p.OrgID, a.ID))
		}
	}
	for _, name := range named {
		a := attributes.Attribute{ID: name + "-" + s.round, Name: name, Type: attributes.String, Origin: core.ManagedOrigin}
		err = errors.Join(err, store.InsertAttribute(t.Context(), s.p.OrgID, a))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// promoteProperties creates the activity properties that the calls of a test round read,
// change and delete. It first deletes those of the previous round.
func (s *faultScene) promoteProperties(t *testing.T) {
	t.Helper()
	store := s.p.DB.ActivityProperties()
	promoted, err := store.PropertyPage(t.Context(), s.p.OrgID, nil, 100)
	for _, p := range promoted {
		if p.ActivityName == "faults" {
			err = errors.Join(err, store.DeleteProperty(t.Context(), s.p.OrgID, p.ID))
		}
	}
	for id, name := range map[string]string{readProperty: "read", putProperty: "put", deleteProperty: "delete"} {
		p := activities.Property{ID: id, ActivityName: "faults", Property: name, Type: activities.StringProperty, Origin: activities.Managed}
		err = errors.Join(err, store.InsertProperty(t.Context(), s.p.OrgID, p))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// makeLists creates the static lists that the calls of the test round s.round read, change
// and delete.
func (s *faultScene) makeLists(t *testing.T) {
	t.Helper()
	for _, name := range []string{"read", "put", "delete"} {
		l := lists.List{
			ID: core.NewID(), Key: name + "-" + s.round, Name: name, Source: "api", Origin: core.ManagedOrigin, Status: string(contacts.Active),
			CreatedAt: s.p.Clock.Now(), UpdatedAt: s.p.Clock.Now(),
		}
		if err := s.p.DB.Lists().InsertList(t.Context(), s.p.OrgID, l); err != nil {
			t.Fatal(err)
		}
	}
}

// makeBroadcasts creates the drafts that the calls of the test round s.round read, send and
// delete. Their list has no members. It also forgets the test sends of earlier rounds, of
// which an organization may make ten in an hour.
func (s *faultScene) makeBroadcasts(t *testing.T) {
	t.Helper()
	list, err := s.p.DB.Lists().List(t.Context(), s.p.OrgID, "put-"+s.round)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.p.SQL(t).ExecContext(t.Context(), "DELETE FROM test_sends"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"drafted", "sent", "deleted"} {
		b := broadcasts.Broadcast{
			ID: name + "-" + s.round, Name: name, HTML: "<p>Hello</p>", Subject: "Hello", State: broadcasts.Draft, Revision: 1,
			Target: broadcasts.Target{AudienceKind: broadcasts.List, AudienceID: list.ID}, CreatedAt: s.p.Clock.Now(), UpdatedAt: s.p.Clock.Now(),
		}
		if err := s.p.DB.Broadcasts().Insert(t.Context(), s.p.OrgID, b); err != nil {
			t.Fatal(err)
		}
	}
}

// makeTopics creates the topics that the calls of a test round change and delete. It
// deletes the topic "created", which a call of the previous round created and a call of
// this round creates again.
func (s *faultScene) makeTopics(t *testing.T) {
	t.Helper()
	if got := s.do(t, call{method: "DELETE", path: "/v1/topics/created"}); got.err != nil || got.status != http.StatusNoContent && got.status != http.StatusNotFound {
		t.Fatalf("the last round's topic stays: %v %d %s", got.err, got.status, got.body)
	}
	for _, name := range []string{"put", "delete"} {
		got := s.do(t, call{method: "POST", path: "/v1/topics", body: `{"name":"` + name + `","default_subscription_status":"OPT_OUT"}`})
		if got.err != nil || got.status != http.StatusCreated && got.status != http.StatusConflict {
			t.Fatalf("no topic: %v %d %s", got.err, got.status, got.body)
		}
	}
}

// do makes a call. It returns an error in the answer and never fails the test, so that any
// goroutine may use it.
func (s *faultScene) do(t *testing.T, c call) answer {
	t.Helper()
	return s.doUntil(t.Context(), c)
}

// doUntil makes a call without an idempotency key, and disconnects when ctx ends.
func (s *faultScene) doUntil(ctx context.Context, c call) answer { return s.doKeyed(ctx, c, "") }

// doKeyed makes a call with an idempotency key, or without one if key is "". It disconnects
// when ctx ends.
func (s *faultScene) doKeyed(ctx context.Context, c call, key string) answer {
	method, address, bearer, body := c.method, s.p.BaseURL+c.path, s.p.Live.APIKey, c.body
	if c.method == "" {
		method, address, bearer = http.MethodPost, s.p.MCPURL+"/mcp", s.agent
		body = toolCall("1", c.operation, c.body, metaWithKey(key))
	}
	in := strings.NewReplacer("ROUND", url.PathEscape(s.round), "SOURCE", s.source, "IMAGE", s.image)
	r, err := http.NewRequestWithContext(ctx, method, in.Replace(address), strings.NewReader(in.Replace(body)))
	if err != nil {
		return answer{err: err}
	}
	r.Header.Set("Authorization", "Bearer "+bearer)
	if key != "" && c.method != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("MCP-Protocol-Version", legacy)
	}
	a := do(s.p.HTTP, r)
	if a.err != nil || a.body == "" {
		return a
	}
	a.err = json.Unmarshal([]byte(a.body), &a.content)
	if result, ok := a.content["result"].(map[string]any); ok && c.method == "" {
		a.isError, _ = result["isError"].(bool)
		a.content, _ = result["structuredContent"].(map[string]any)
	}
	return a
}
