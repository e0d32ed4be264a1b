package privacy_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/persons"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/workflows"
)

const erasedEmail = "Erin.Example@example.org"

// TestErasedPersonStaysErased erases a contact of a running server. Afterwards the server must
// refuse the address in calls and bulk writes, and must not store it with events that arrive
// late.
func TestErasedPersonStaysErased(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		erased := persons.Erased(p.DB.Privacy(), p.MasterKey)
		events := serve.Events(p.DB, erased, p.Clock.Now, slog.New(slog.DiscardHandler))
		call(t, p, http.MethodPost, "/v1/contacts", `{"email":"`+erasedEmail+`","unsubscribe_all":true,"attributes":{}}`, http.StatusCreated)
		record(t, p, events, messages.Send)

		found, err := persons.New(privacy.Config{
			Store: p.DB.Privacy(), Account: p.Simulator, Runs: workflows.NewTimerStore(p.DB.DB), Audit: p.DB.Audit(), Transactor: p.DB, Clock: p.Clock.Now, Journal: &journal{},
		}, erased, noStores{})
		must(t, err)
		report, err := found.Erase(t.Context(), access.ActorOf(access.Operator), p.OrgID, erasedEmail)
		must(t, err)
		if report.Refuses != privacy.OptedOut || report.Account.Contact == nil {
			t.Errorf("the report is %+v", report)
		}

		call(t, p, http.MethodGet, "/v1/contacts/"+erasedEmail, "", http.StatusNotFound)
		refusal := call(t, p, http.MethodPost, "/v1/contacts", `{"email":"`+erasedEmail+`"}`, http.StatusUnprocessableEntity)
		if !strings.Contains(refusal, "was erased") {
			t.Errorf("a new contact is refused with %s", refusal)
		}
		checkBulk(t, p)
		record(t, p, events, messages.Open)
		record(t, p, events, messages.Delivery)
		if sent := call(t, p, http.MethodGet, "/v1/recipients/"+erasedEmail+"/messages", "", http.StatusOK); !strings.Contains(sent, `"data":[]`) {
			t.Errorf("messages of the erased person: %s", sent)
		}
		w := newPlanted(t, p.DB)
		for _, row := range mentioning(w.dump(t), core.EmailKey(erasedEmail)) {
			t.Errorf("after the erasure there is %s", row)
		}
	})
}

// noStores has no store of received mail, because this person sent none.
type noStores struct{ objects.Stores }

// record records an event of a message to the person, as an import of events does.
func record(t *testing.T, p *product.Product, into *messages.Messages, kind messages.EventType) {
	t.Helper()
	at := p.Clock.Now().Add(-time.Hour)
	e := messages.Event{ID: core.NewID(), MessageID: "message-to-erin", Type: kind, OccurredAt: at, Recipient: erasedEmail, Mail: messages.Mail{
		From: "shop@example.com", To: []string{erasedEmail}, SentAt: at, Subject: "Erin, your order",
	}}
	if kind != messages.Send {
		e.Metadata = json.RawMessage(`{"smtp_response":"250 ok ` + strings.ToLower(erasedEmail) + `"}`)
	}
	_, err := into.Record(t.Context(), p.OrgID, []messages.Event{e})
	must(t, err)
}

// checkBulk sends the address in a bulk write. The rows must fail, and their outcomes must not
// store the address: the rest of the test searches the database for it.
func checkBulk(t *testing.T, p *product.Product) {
	t.Helper()
	var job struct {
		ID     string `json:"job_id"`
		Status string `json:"status"`
		Failed int    `json:"failed"`
	}
	answer := call(t, p, http.MethodPost, "/v1/contacts/bulk", `{"contacts":[{"external_id":"erin-1","email":"`+erasedEmail+`"},{"external_id":"erin-1","email":"`+erasedEmail+`","attributes":{"unknown":1}}]}`, http.StatusAccepted)
	must(t, json.Unmarshal([]byte(answer), &job))
	product.Await(t, 30*time.Second, func() error {
		answer = call(t, p, http.MethodGet, "/v1/contacts/bulk/"+job.ID, "", http.StatusOK)
		if err := json.Unmarshal([]byte(answer), &job); err != nil || job.Status == "completed" {
			return err
		}
		return core.NotFound("end of the bulk write")
	})
	if job.Failed != 2 {
		t.Errorf("the bulk write ended with %s", answer)
	}
	if !strings.Contains(answer, "was erased") || strings.Contains(strings.ToLower(answer), core.EmailKey(erasedEmail)) || strings.Contains(answer, "erin-1") {
		t.Errorf("the outcomes of the bulk write are %s", answer)
	}
}

// call sends a request of the organization and returns the body of the answer, which must have
// the status.
func call(t *testing.T, p *product.Product, method, path, body string, status int) string {
	t.Helper()
	answer := p.Send(t, product.Request{Method: method, URL: p.BaseURL + path, Bearer: p.Live.APIKey, Body: body})
	if answer.Status != status {
		t.Fatalf("%s %s: status %d, want %d: %s", method, path, answer.Status, status, answer.Body)
	}
	return answer.Body
}
