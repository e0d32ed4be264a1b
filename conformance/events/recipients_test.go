package events

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
)

const (
	crowd     = 50
	delivered = 30 // the first 30 recipients
	bounced   = 19 // the 19 recipients after the first 30; the remaining recipient complains
)

// crowdedMessage is a message to several recipients: its id, their addresses and the time
// at which it was sent.
type crowdedMessage struct {
	id string
	to []string
	at time.Time
}

func newCrowd(now time.Time) crowdedMessage {
	c := crowdedMessage{id: "message-to-fifty", at: now.UTC().AddDate(0, 0, -2)}
	for i := range crowd {
		c.to = append(c.to, fmt.Sprintf("quillan%02dq@reader.example", i))
	}
	return c
}

// event returns the JSON of an Amazon SES event about the message. kind is the type of the
// event, such as "Bounce". member is the name of the JSON object for that type, and more
// has further members of that object.
func (c crowdedMessage) event(kind, member, more string) string {
	at := c.at.Format(time.RFC3339)
	quoted := func(all []string) string { return `["` + strings.Join(all, `","`) + `"]` }
	copied := crowd - crowd/10
	return `{"eventType":"` + kind + `","mail":{"timestamp":"` + at + `","messageId":"` + c.id + `","source":"news@harbour.example","destination":` + quoted(c.to) +
		`,"commonHeaders":{"from":["news@harbour.example"],"to":` + quoted(c.to[:copied]) + `,"cc":` + quoted(c.to[copied:]) +
		`,"subject":"For all of you"}},"` + member + `":{"timestamp":"` + at + `"` + more + `}}`
}

func (c crowdedMessage) events() []string {
	failed := make([]string, 0, bounced)
	for _, address := range c.to[delivered : delivered+bounced] {
		failed = append(failed, `{"emailAddress":"`+address+`","diagnosticCode":"smtp; 550 5.1.1 <`+address+`> unknown"}`)
	}
	return []string{
		c.event("Send", "send", ""),
		c.event("Delivery", "delivery", `,"recipients":["`+strings.Join(c.to[:delivered], `","`)+`"]`),
		c.event("Bounce", "bounce", `,"bounceType":"Permanent","bounceSubType":"NoEmail","bouncedRecipients":[`+strings.Join(failed, ",")+`]`),
		c.event("Complaint", "complaint", `,"complaintFeedbackType":"abuse","userAgent":"reports of `+c.to[crowd-1]+`","complainedRecipients":[{"emailAddress":"`+c.to[crowd-1]+`"}]`),
	}
}

// TestManyRecipients posts four events of a message to fifty recipients, each event twice.
// Each recipient must count once in the reports. A search for the address of any recipient
// must find the message. Callers without the scope for recipients must see no address.
func TestManyRecipients(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		s, c := newScene(t, p), newCrowd(p.Clock.Now())
		connect(t, p)
		post := throughBus(t, p)
		for range 2 {
			for _, event := range c.events() {
				if status := post(t, event); status != http.StatusAccepted {
					t.Fatalf("answered %d", status)
				}
			}
		}
		totals, _ := s.ask(t, "reports_get_sending_health", `{}`)["totals"].(object)
		for member, want := range map[string]float64{"sent": crowd, "delivered": delivered, "bounced": bounced, "complained": 1} {
			if got := s.sum(t, "/v1/reports/deliverability", member); got != want || totals[member] != want {
				t.Errorf("%s: %v in the report, %v in the health, want %v", member, got, totals[member], want)
			}
		}
		for _, address := range c.to {
			for _, path := range []string{"/v1/recipients/" + url.PathEscape(address) + "/messages", "/v1/messages?recipient=" + url.QueryEscape(address)} {
				if list, _ := s.get(t, path)["data"].([]any); len(list) != 1 || list[0].(object)["id"] != c.id {
					t.Errorf("%s: %v", path, list)
				}
			}
		}
		rows, _ := s.get(t, "/v1/undeliverable?limit=200")["data"].([]any)
		if len(rows) != bounced+1 {
			t.Errorf("%d addresses are undeliverable", len(rows))
		}
		c.checkDiagnosis(t, s)
		c.checkMasked(t, s)
	})
}

func (c crowdedMessage) checkDiagnosis(t *testing.T, s scene) {
	t.Helper()
	diagnosis := s.ask(t, "messages_diagnose", `{"message_id":"`+c.id+`"}`)
	shown, _ := diagnosis["events"].([]any)
	text, _ := diagnosis["diagnosis"].(string)
	if diagnosis["outcome"] != "complained" || diagnosis["events_total"] != float64(crowd+delivered+bounced+1) || len(shown) != 50 || diagnosis["truncated"] != true {
		t.Errorf("outcome %v, %v events, %d shown, truncated: %v", diagnosis["outcome"], diagnosis["events_total"], len(shown), diagnosis["truncated"])
	}
	if !strings.Contains(text, c.to[crowd-1]) || !strings.Contains(text, "one of 50 recipients") {
		t.Errorf("it is not about the one who complained: %s", text)
	}
	evidence, _ := diagnosis["evidence"].([]any)
	first, _ := evidence[0].(object)
	want := fmt.Sprintf("Of %d recipients, by their highest-ranked event: 1 Complaint, %d Bounce, %d Delivery.", crowd, bounced, delivered)
	if diff := cmp.Diff(want, first["claim"]); diff != "" {
		t.Error(diff)
	}
}

// checkMasked reads the message and its events by every route and tool, with a token that
// has only the scope api.messages.view. It checks that every address is masked.
func (c crowdedMessage) checkMasked(t *testing.T, s scene) {
	t.Helper()
	scopes := "api.messages.view"
	narrow := scene{s.p, s.p.Token(t, s.p.BaseURL, scopes), s.p.Token(t, s.p.MCPURL, scopes)}
	all := fmt.Sprint(
		narrow.get(t, "/v1/messages?limit=200"), narrow.get(t, "/v1/messages/"+c.id), narrow.get(t, "/v1/messages/"+c.id+"/events"),
		narrow.ask(t, "messages_search", `{}`), narrow.ask(t, "messages_diagnose", `{"message_id":"`+c.id+`"}`),
	)
	for i := range c.to {
		if name := "uillan" + fmt.Sprintf("%02d", i); strings.Contains(all, name) {
			t.Fatalf("%s… is named", name)
		}
	}
	if n := strings.Count(all, "q***@reader.example"); n < crowd {
		t.Errorf("only %d masked addresses: %s", n, all)
	}
}

// TestEventsOfAClockAhead posts events with times in the future, as from a provider whose
// clock is ahead. An event four minutes ahead is stored at once; lists and reports show it
// when its time has come. An event two days ahead is refused.
func TestEventsOfAClockAhead(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		s, now := newScene(t, p), p.Clock.Now()
		connect(t, p)
		post := throughBus(t, p)
		event := func(id string, at time.Time) string {
			return (crowdedMessage{id: id, to: []string{"ines@reader.example"}, at: at.UTC()}).arrival()
		}
		for range 2 {
			if status := post(t, event("ahead", now.Add(4*time.Minute))); status != http.StatusAccepted {
				t.Errorf("four minutes ahead is answered %d", status)
			}
		}
		if status := post(t, event("far-ahead", now.Add(49*time.Hour))); status != http.StatusBadRequest {
			t.Errorf("two days ahead is answered %d", status)
		}
		if one := s.get(t, "/v1/messages/ahead"); one["status"] != "Delivery" {
			t.Errorf("read as %v", one)
		}
		if diagnosis := s.ask(t, "messages_diagnose", `{"message_id":"ahead"}`); diagnosis["outcome"] != "arrived" {
			t.Errorf("diagnosed as %v", diagnosis["outcome"])
		}
		later := url.QueryEscape(now.Add(time.Hour).UTC().Format(time.RFC3339))
		find(t, s.get(t, "/v1/messages?limit=200&to="+later)["data"], "ahead")
		p.Clock.Advance(10 * time.Minute)
		find(t, s.get(t, "/v1/messages?limit=200")["data"], "ahead")
		if got := s.sum(t, "/v1/reports/deliverability", "delivered"); got != 1 {
			t.Errorf("counted %v times", got)
		}
	})
}

// arrival returns the JSON of a delivery event for all recipients of the message.
func (c crowdedMessage) arrival() string {
	at := c.at.Format(time.RFC3339)
	to := `["` + strings.Join(c.to, `","`) + `"]`
	return `{"eventType":"Delivery","mail":{"timestamp":"` + at + `","messageId":"` + c.id + `","source":"news@harbour.example","destination":` + to +
		`},"delivery":{"timestamp":"` + at + `","recipients":` + to + `}}`
}
