package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// demoMail is the received mail of a demo, in a form to compare.
type demoMail struct {
	// Inboxes has label, status and the numbers of accepted and dropped messages.
	Inboxes []string
	// Verdicts has the results of SPF, DKIM and DMARC of the messages of the inbox by subject.
	Verdicts map[string]string
	// Outcomes are those of the log of received mail, by subject.
	Outcomes map[string]string
	// Addresses is the number of minted addresses.
	Addresses int
}

// wantMail is the received mail after each start of the demo.
var wantMail = demoMail{
	Inboxes: []string{"Nightly sign-up test expired 2 1", "Only our own mail active 1 1", "Sign-up of Tidewater active 6 0"},
	Verdicts: map[string]string{
		"482 913 is your Tidewater code": "PASS PASS PASS", "Your sign-in link": "PASS PASS PASS", "Receipt for order QS-20417": "PASS PASS PASS",
		"Night boats, early coffee": "PASS PASS PASS", "ご登録の確認をお願いします": "PASS PASS PASS", "Your account is locked - act now": "FAIL GRAY FAIL",
	},
	Outcomes: map[string]string{
		"Re: Your order 1043": "delivered", "Our invoice 2026-118": "delivered", "Invoice overdue, open the attachment": "delivered",
		"May we visit the roastery?": "no_route", "One bag arrived open": "retrying", "Two grinders for repair": "delivery_failed",
	},
	Addresses: 2,
}

// checkDemoMail checks the received mail of a demo: it is the same after each start.
func checkDemoMail(t *testing.T, d demoOutput) {
	t.Helper()
	got := demoMail{Verdicts: map[string]string{}, Outcomes: map[string]string{}}
	for _, i := range items(t, d, "/v1/inboxes?scope=org") {
		got.Inboxes = append(got.Inboxes, fmt.Sprintf("%v %v %v %v", i["label"], i["status"], i["message_count"], i["dropped_count"]))
		if i["message_count"] != float64(6) {
			continue
		}
		var poll struct {
			Messages []struct {
				Verdicts map[string]string
				Message  struct{ Subject string }
			}
		}
		if err := json.Unmarshal([]byte(request(t, "GET", d["base_url"]+"/v1/inboxes/"+i["id"].(string)+"/messages", d["api_key"], "").body), &poll); err != nil {
			t.Fatal(err)
		}
		for _, m := range poll.Messages {
			got.Verdicts[m.Message.Subject] = m.Verdicts["spf"] + " " + m.Verdicts["dkim"] + " " + m.Verdicts["dmarc"]
		}
	}
	slices.Sort(got.Inboxes)
	for _, m := range items(t, d, "/v1/inbound/messages") {
		got.Outcomes[m["subject"].(string)] = m["outcome"].(string)
	}
	got.Addresses = len(items(t, d, "/v1/inbound/domains/orders.example.com/addresses"))
	if diff := cmp.Diff(wantMail, got); diff != "" {
		t.Errorf("received mail (-want +got):\n%s", diff)
	}
}

// items returns the objects of a list in the API.
func items(t *testing.T, d demoOutput, path string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, raw := range pages(t, d, path) {
		var one map[string]any
		if err := json.Unmarshal(raw, &one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}
