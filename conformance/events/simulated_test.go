package events

import (
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
)

// mailboxCase has the local part of an address of the SES mailbox simulator, such as
// "bounce". It also has the events and the diagnosis expected for mail to that address.
type mailboxCase struct {
	address string
	status  messages.EventType
	outcome messages.Outcome
	types   map[messages.EventType]bool
	// undeliverable says whether the address is marked as undeliverable.
	undeliverable bool
}

var mailboxCases = []mailboxCase{
	{"success", messages.Delivery, messages.Arrived, types(messages.Send, messages.Delivery), false},
	{"bounce", messages.Bounce, messages.Bounced, types(messages.Send, messages.Bounce), true},
	{"complaint", messages.Complaint, messages.Complained, types(messages.Send, messages.Delivery, messages.Complaint), true},
	{"ooto", messages.Delivery, messages.Arrived, types(messages.Send, messages.Delivery), false},
	{"suppressionlist", messages.Bounce, messages.NotSent, types(messages.Send, messages.Bounce), true},
}

func types(all ...messages.EventType) map[messages.EventType]bool {
	set := map[messages.EventType]bool{}
	for _, one := range all {
		set[one] = true
	}
	return set
}

// TestSimulatedMailReportsByItself sends mail through a simulated sending account. The
// account itself posts signed events to the product. The product must accept them like
// those of a real account.
func TestSimulatedMailReportsByItself(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		p.Connect(t, sending.NewConnection{OrgID: p.OrgID, Provider: sending.Simulated}, nil)
		account := sending.NewAccounts(sending.AccountsConfig{Connections: p.Connections, Otherwise: p.Simulator, Clock: p.Clock.Now})
		ids := map[string]string{}
		for _, c := range mailboxCases {
			id, err := account.Send(t.Context(), p.OrgID, sending.Message{
				Envelope: sending.Envelope{From: "shop@example.com", ConfigurationSet: "transactional"},
				To:       []string{c.address + "@simulator.amazonses.com"},
				Content:  sending.Content{Subject: "How are you?", Text: "We are well."},
			})
			if err != nil {
				t.Fatalf("%s: %v", c.address, err)
			}
			ids[c.address] = id
		}
		p.Clock.Advance(24 * time.Hour) // a simulated complaint arrives long after its message
		s := newScene(t, p)
		for _, c := range mailboxCases {
			s.awaitStatus(t, c, ids[c.address])
		}
		s.checkDiagnoses(t, ids)
	})
}

// awaitStatus reads the message until it has the status in c. After 20 seconds it ends the
// test.
func (s scene) awaitStatus(t *testing.T, c mailboxCase, id string) {
	t.Helper()
	product.Await(t, 20*time.Second, func() error {
		got := s.p.Send(t, product.Request{URL: s.p.BaseURL + "/v1/messages/" + id, Bearer: s.rest})
		if got.Status != 200 || decoded(t, id, got)["status"] != string(c.status) {
			return fmt.Errorf("mail to %s: %d %s, want %s", c.address, got.Status, got.Body, c.status)
		}
		return nil
	})
}

func (s scene) checkDiagnoses(t *testing.T, ids map[string]string) {
	t.Helper()
	for _, c := range mailboxCases {
		id := ids[c.address]
		diagnosis := s.ask(t, "messages_diagnose", `{"message_id":"`+id+`"}`)
		if diagnosis["outcome"] != string(c.outcome) || diagnosis["diagnosis"] == "" {
			t.Errorf("mail to %s is diagnosed as %v: %v", c.address, diagnosis["outcome"], diagnosis["diagnosis"])
		}
		got := map[messages.EventType]bool{}
		happened, _ := s.get(t, "/v1/messages/"+id+"/events")["data"].([]any)
		for _, event := range happened {
			kind, _ := event.(object)["type"].(string)
			got[messages.EventType(kind)] = true
		}
		if fmt.Sprint(got) != fmt.Sprint(c.types) || len(happened) != len(c.types) {
			t.Errorf("mail to %s has the events %v, want %v", c.address, happened, c.types)
		}
		if status := find(t, s.get(t, "/v1/messages?limit=200")["data"], id)["status"]; status != string(c.status) {
			t.Errorf("mail to %s is listed as %v", c.address, status)
		}
		checked := s.ask(t, "suppressions_check_address", `{"email":"`+c.address+`@simulator.amazonses.com"}`)
		if listed := checked["undeliverable"] != nil; listed != c.undeliverable {
			t.Errorf("%s is undeliverable: %v", c.address, checked["undeliverable"])
		}
	}
	totals, _ := s.ask(t, "reports_get_sending_health", `{}`)["totals"].(object)
	for member, want := range map[string]float64{"sent": 5, "delivered": 3, "bounced": 2, "complained": 1} {
		if got := s.sum(t, "/v1/reports/deliverability", member); got != want || totals[member] != want {
			t.Errorf("%s: %v in the report, %v in the health, want %v", member, got, totals[member], want)
		}
	}
}
