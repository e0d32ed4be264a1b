package events

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	ingestPath = "events-of-fernhill"
	busKey     = "the key of the bus"
	topic      = "arn:aws:sns:eu-west-1:111122223333:mailhelm"
)

// record names a file of core/messages/testdata with one event, and has the results
// expected after the product received that event.
type record struct {
	file string
	kind messages.EventType
	// status is the expected status of the message. An event about a subscription leaves the
	// status Send, which an accepted message has.
	status  messages.EventType
	outcome messages.Outcome
	events  int
	// undeliverable has the addresses that must be marked as undeliverable because of the
	// event.
	undeliverable []string
}

// records has one record of each event type.
var records = []record{
	{"send", messages.Send, messages.Send, messages.Silent, 2, nil},
	{"delivery", messages.Delivery, messages.Delivery, messages.Arrived, 1, nil},
	{"bounce", messages.Bounce, messages.Bounce, messages.Bounced, 2, []string{"gone@reader.example", "full@reader.example"}},
	{"complaint", messages.Complaint, messages.Complaint, messages.Complained, 1, []string{"cross@reader.example"}},
	{"reject", messages.Reject, messages.Reject, messages.NotSent, 1, []string{"ines@reader.example"}},
	{"rendering_failure", messages.RenderingFailure, messages.RenderingFailure, messages.NotSent, 1, nil},
	{"delivery_delay", messages.DeliveryDelay, messages.DeliveryDelay, messages.Silent, 1, nil},
	{"open", messages.Open, messages.Open, messages.Arrived, 1, nil},
	{"click", messages.Click, messages.Click, messages.Arrived, 1, nil},
	{"subscription", messages.Subscription, messages.Send, messages.Arrived, 1, nil},
}

func (r record) messageID() string { return "message-" + strings.ReplaceAll(r.file, "_", "-") }

// text returns the JSON of the event in the record's file. It changes the day of the event
// to two days before now, and the id of the message to one that is unique to the record.
func (r record) text(t *testing.T, now time.Time) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "core", "messages", "testdata", r.file+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var of struct {
		Mail struct {
			MessageID string `json:"messageId"`
		} `json:"mail"`
	}
	if err := json.Unmarshal(raw, &of); err != nil || of.Mail.MessageID == "" {
		t.Fatalf("%s: %v", r.file, err)
	}
	day := now.UTC().AddDate(0, 0, -2).Format(time.DateOnly)
	return strings.NewReplacer("2026-03-02", day, of.Mail.MessageID, r.messageID()).Replace(string(raw))
}

// TestRecordsAreSeenEverywhere posts events of all ten types, each twice. It posts them
// once as an EventBridge bus does and once as an SNS topic does. Message lists, reports and
// diagnoses must agree about the events.
func TestRecordsAreSeenEverywhere(t *testing.T) {
	t.Parallel()
	amazon := startTopics(t)
	for name, way := range map[string]func(*testing.T, *product.Product) func(*testing.T, string) int{"event bus": throughBus, "topic": amazon.through} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			product.EachWith(t, amazon.options, func(t *testing.T, p *product.Product) {
				s := newScene(t, p)
				connect(t, p)
				post := way(t, p)
				for range 2 {
					for _, r := range records {
						if status := post(t, r.text(t, p.Clock.Now())); status/100 != 2 {
							t.Fatalf("%s is answered %d", r.file, status)
						}
					}
				}
				for _, r := range records {
					s.checkMessage(t, r)
				}
				s.checkFigures(t)
				s.checkUndeliverable(t)
			})
		})
	}
}

func connect(t *testing.T, p *product.Product) {
	t.Helper()
	key, now := sha256.Sum256([]byte(busKey)), p.Clock.Now()
	err := p.Connections.SaveConnection(t.Context(), sending.Connection{
		OrgID: p.OrgID, Provider: sending.SES, Region: "eu-west-1", TopicARN: topic, IngestPath: ingestPath, IngestKeyHash: key[:],
		CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// throughBus returns a function that posts an event to the product in the way of an Amazon
// EventBridge bus. The function returns the status of the product's answer.
func throughBus(_ *testing.T, p *product.Product) func(*testing.T, string) int {
	return func(t *testing.T, text string) int {
		t.Helper()
		body := `{"version":"0","id":"6f3b1a52","source":"aws.ses","account":"111122223333","region":"eu-west-1","detail-type":"Email Event","detail":` + text + `}`
		return p.Send(t, product.Request{
			Method: http.MethodPost, URL: p.BaseURL + "/ingest/ses/" + ingestPath, Body: body, Header: map[string]string{"X-Api-Key": busKey},
		}).Status
	}
}

// checkMessage checks that GET of the message, the list of messages, the search tool and
// the diagnosis tool return the same message. The status, the events and the outcome of the
// diagnosis must be those of the record.
func (s scene) checkMessage(t *testing.T, r record) {
	t.Helper()
	id := r.messageID()
	one := s.get(t, "/v1/messages/"+id)
	if one["status"] != string(r.status) {
		t.Errorf("%s has the status %v, want %s", id, one["status"], r.status)
	}
	listed := find(t, s.get(t, "/v1/messages?limit=200")["data"], id)
	found := find(t, s.ask(t, "messages_search", `{"limit":50}`)["items"], id)
	diagnosis := s.ask(t, "messages_diagnose", `{"message_id":"`+id+`"}`)
	for what, other := range map[string]any{"the list": listed, "the search": found, "the diagnosis": diagnosis["message"]} {
		if diff := cmp.Diff(one, other); diff != "" {
			t.Errorf("%s says otherwise of %s (- the message, + it):\n%s", what, id, diff)
		}
	}
	if diagnosis["outcome"] != string(r.outcome) || diagnosis["diagnosis"] == "" {
		t.Errorf("%s is diagnosed as %v: %v", id, diagnosis["outcome"], diagnosis["diagnosis"])
	}
	happened, _ := s.get(t, "/v1/messages/"+id+"/events")["data"].([]any)
	for _, event := range happened {
		if of, _ := event.(object); of["type"] != string(r.kind) {
			t.Errorf("%s has an event of the type %v", id, of["type"])
		}
	}
	if len(happened) != r.events || diagnosis["events_total"] != float64(r.events) {
		t.Errorf("%s has %d events, and %v in its diagnosis, want %d", id, len(happened), diagnosis["events_total"], r.events)
	}
}

// sum reads the report at the given path, and returns the sum of a numeric member over all
// points of its time series.
func (s scene) sum(t *testing.T, path, member string) float64 {
	t.Helper()
	points, _ := s.get(t, path)["data"].([]any)
	var total float64
	for _, point := range points {
		value, _ := point.(object)[member].(float64)
		total += value
	}
	return total
}

// checkFigures checks that each report counts each event once.
func (s scene) checkFigures(t *testing.T) {
	t.Helper()
	totals, _ := s.ask(t, "reports_get_sending_health", `{}`)["totals"].(object)
	for member, want := range map[string]float64{
		"sent": 2, "delivered": 1, "bounced": 2, "complained": 1, "suppressed": 1,
	} {
		if got := s.sum(t, "/v1/reports/deliverability", member); got != want || totals[member] != want {
			t.Errorf("%s: %v in the report, %v in the health, want %v", member, got, totals[member], want)
		}
	}
	for member, want := range map[string]float64{"sent": 2, "delivered": 1, "opens": 1, "unique_opens": 1, "clicks": 1, "unique_clicks": 1} {
		if got := s.sum(t, "/v1/reports/engagement", member); got != want || totals[member] != want {
			t.Errorf("%s: %v in the report, %v in the health, want %v", member, got, totals[member], want)
		}
	}
	for member, want := range map[string]float64{"opens": 1, "clicks": 1} {
		if got := s.sum(t, "/v1/reports/template-performance", member); got != want {
			t.Errorf("%s of templates: %v, want %v", member, got, want)
		}
	}
}

// checkUndeliverable checks that the product lists as undeliverable exactly the addresses
// that the records name.
func (s scene) checkUndeliverable(t *testing.T) {
	t.Helper()
	listed := map[string]bool{}
	rows, _ := s.get(t, "/v1/undeliverable?limit=200")["data"].([]any)
	for _, row := range rows {
		email, _ := row.(object)["email"].(string)
		listed[email] = true
	}
	want := map[string]bool{}
	for _, r := range records {
		for _, email := range r.undeliverable {
			want[email] = true
		}
	}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("undeliverable (-want +got):\n%s", diff)
	}
}
