package everyday

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// insightTasks are about the mail of the past.
var insightTasks = []task{
	{
		ask:  "Is our delivery rate all right this week?",
		uses: []string{"reports_get_sending_health"},
		given: func(s *session) {
			today := s.p.Clock.Now().UTC().Truncate(24 * time.Hour)
			s.kept["from"], s.kept["to"] = today.AddDate(0, 0, -7).Format(time.RFC3339), today.Format(time.RFC3339)
		},
		steps: func(s *session) {
			s.kept["answer"] = s.call("reports_get_sending_health", object{"from": s.kept["from"], "to": s.kept["to"]})
		},
		check: func(s *session) {
			sent, delivered := 0.0, 0.0
			for _, day := range items(s.get("/v1/reports/deliverability?from="+s.keep("from")+"&to="+s.keep("to")), "data") {
				sent, delivered = sent+day["sent"].(float64), delivered+day["delivered"].(float64)
			}
			s.want("the sent messages", at(s.kept["answer"], "totals", "sent"), sent)
			s.want("the delivered messages", at(s.kept["answer"], "totals", "delivered"), delivered)
			if rate, _ := at(s.kept["answer"], "rates", "delivery").(float64); sent == 0 || rate-delivered/sent > 0.001 || rate-delivered/sent < -0.001 {
				s.Errorf("the rate is %v for %v of %v messages", rate, delivered, sent)
			}
		},
	},
	{
		ask:   "List the messages that bounced in the last month",
		uses:  []string{"messages_search"},
		given: (*session).keepPast,
		steps: func(s *session) {
			found, to := map[string]bool{}, s.kept["end"].(time.Time)
			for range 10 {
				page := s.call("messages_search", object{"status": "Bounce", "from": s.kept["from"], "to": to.Format(time.RFC3339Nano), "limit": 25})
				for _, m := range items(page, "items") {
					found[text(m, "id")] = true
					to, _ = time.Parse(time.RFC3339Nano, text(m, "sent_at"))
				}
				if page["truncated"] != true {
					break
				}
				to = to.Add(time.Millisecond) // the end is not included, and messages may have the same time
			}
			s.kept["found"] = found
		},
		check: func(s *session) {
			found, bounced := s.kept["found"].(map[string]bool), 0
			for cursor := ""; ; {
				page := s.get("/v1/messages?status=Bounce&limit=50&from=" + s.keep("from") + "&to=" + s.keep("to") + "&cursor=" + cursor)
				for _, m := range items(page, "data") {
					bounced++
					if !found[text(m, "id")] {
						s.Errorf("the message %v was not found", m["id"])
					}
				}
				if cursor = text(page, "pagination", "next_cursor"); cursor == "" {
					break
				}
			}
			s.want("the number of messages", len(found), bounced)
			if bounced <= 25 {
				s.Errorf("one page has all %d messages", bounced)
			}
		},
	},
	{
		ask:  "Why did the last message that bounced not arrive?",
		uses: []string{"messages_search", "messages_diagnose"},
		steps: func(s *session) {
			s.kept["message"] = items(s.call("messages_search", object{"status": "Bounce", "limit": 1}), "items")[0]["id"]
			s.kept["answer"] = s.call("messages_diagnose", object{"message_id": s.kept["message"]})
		},
		check: func(s *session) {
			s.want("the outcome", at(s.kept["answer"], "outcome"), "bounced")
			bounce := find(items(s.get("/v1/messages/"+url.PathEscape(s.keep("message"))+"/events"), "data"), "type", "Bounce")
			response := text(bounce, "metadata", "smtp_response")
			s.wantIn("the diagnosis", at(s.kept["answer"], "diagnosis"), response)
			if response == "" || len(items(s.kept["answer"], "next_steps")) == 0 {
				s.Errorf("the response is %q, the next steps are %v", response, at(s.kept["answer"], "next_steps"))
			}
		},
	},
	{
		ask:  "This customer says she gets no mail: find out why",
		uses: []string{"contacts_lookup", "suppressions_check_address", "messages_search", "messages_diagnose"},
		given: func(s *session) {
			s.kept["email"] = s.suppressedContact()
		},
		steps: func(s *session) {
			contact := s.call("contacts_lookup", object{"email": s.kept["email"]})
			s.want("the opt-out", at(contact, "contact", "unsubscribe_all"), false)
			s.kept["address"] = s.call("suppressions_check_address", object{"email": s.kept["email"]})
			last := items(s.call("messages_search", object{"recipient": s.kept["email"], "status": "Bounce", "from": s.p.Clock.Now().AddDate(0, 0, -90).UTC().Format(time.RFC3339), "limit": 1}), "items")[0]
			s.kept["diagnosis"] = s.call("messages_diagnose", object{"message_id": last["id"]})["diagnosis"]
		},
		check: func(s *session) {
			found, err := s.p.Simulator.FindSuppressed(s.Context(), s.p.OrgID, s.keep("email"))
			if err != nil {
				s.Fatal(err)
			}
			s.want("suppressed", at(s.kept["address"], "suppressed"), true)
			s.want("the reason", strings.ToUpper(text(s.kept["address"], "reason")), strings.ToUpper(string(found.Reason)))
			s.want("the time", at(s.kept["address"], "suppressed_at"), found.At.UTC().Format(time.RFC3339Nano))
			s.wantIn("the diagnosis", s.kept["diagnosis"], "did not arrive")
		},
	},
	{
		ask:  "How much mail did this customer get? Look with the narrow permissions of the support desk",
		uses: []string{"messages_search"},
		given: func(s *session) {
			s.keepPast()
			s.kept["email"] = text(items(s.get("/v1/messages?status=Delivery&limit=1&to="+s.keep("to")), "data")[0], "to")
		},
		steps: func(s *session) {
			search := object{"recipient": s.kept["email"], "from": s.kept["from"], "to": s.kept["to"], "limit": 1}
			s.token = s.p.Token(s, s.p.MCPURL, "api.messages.view")
			refusal := s.refused("messages_search", search, "missing_scope")
			s.token = s.p.Token(s, s.p.MCPURL, "api.messages.view", text(refusal, "scope"))
			s.kept["total"] = s.call("messages_search", search)["total"]
		},
		check: func(s *session) {
			page := s.get("/v1/recipients/" + url.PathEscape(s.keep("email")) + "/messages?limit=100&from=" + s.keep("from") + "&to=" + s.keep("to"))
			s.want("the total", s.kept["total"], len(items(page, "data")))
		},
	},
}

// abel is the address of a contact at which mail bounces.
const abel = "bounce+abel@simulator.amazonses.com"

// addressTasks are about addresses that get no mail.
var addressTasks = []task{
	{
		ask:  "Which addresses became undeliverable today? Stop mailing Abel",
		uses: []string{"undeliverable_list", "contacts_lookup", "contacts_upsert"},
		given: func(s *session) {
			s.kept["since"] = s.p.Clock.Now().UTC().Format(time.RFC3339)
			list := s.addList("Bouncing", abel)
			draft := s.rest(http.MethodPost, "/v1/broadcasts", object{
				"name": "Bouncing", "subject": "Hello", "html": "<p>Hello</p>", "audience_kind": "list", "audience_id": list, "topic_id": "product-news",
			})
			s.rest(http.MethodPost, "/v1/broadcasts/"+text(draft, "id")+"/send", object{})
			s.await(func() error {
				if find(items(s.get("/v1/undeliverable?limit=50"), "data"), "email", abel) == nil {
					return errors.New("the address is not undeliverable")
				}
				return nil
			})
		},
		steps: func(s *session) {
			s.kept["entry"] = find(items(s.call("undeliverable_list", object{"since": s.kept["since"]}), "items"), "email", abel)
			contact := s.call("contacts_lookup", object{"email": abel})
			s.call("contacts_upsert", object{"email": at(contact, "contact", "email"), "unsubscribe_all": true})
		},
		check: func(s *session) {
			s.want("the entry", s.kept["entry"], find(items(s.get("/v1/undeliverable?limit=50"), "data"), "email", abel))
			s.want("the reason", at(s.kept["entry"], "reason"), "permanent_bounce")
			s.want("the opt-out", s.contact(abel)["unsubscribe_all"], true)
			s.await(func() error { return s.consent(abel, true, nil) })
		},
	},
	{
		ask:  "Which addresses has the account refused for bounces in the last two months?",
		uses: []string{"suppressions_list"},
		given: func(s *session) {
			s.keepPast()
			s.kept["since"] = s.p.Clock.Now().AddDate(0, -2, 0).UTC().Truncate(time.Hour)
		},
		steps: func(s *session) {
			ask := object{"reason": "bounce", "since": s.kept["since"].(time.Time).Format(time.RFC3339), "limit": 5}
			few := s.call("suppressions_list", ask)
			s.want("truncated", few["truncated"], true)
			s.wantIn("the advice", few["more"], "raise the limit")
			ask["limit"] = 50
			for _, one := range items(s.call("suppressions_list", ask), "items") {
				s.kept[text(one, "email")] = one["suppressed_at"]
			}
		},
		check: func(s *session) {
			page, _, err := s.p.Simulator.SuppressedPage(s.Context(), s.p.OrgID, s.kept["since"].(time.Time), s.kept["end"].(time.Time), "")
			if err != nil || len(page) <= 5 {
				s.Fatalf("%d addresses, %v", len(page), err)
			}
			for _, one := range page {
				if one.Reason == sending.SuppressedByBounce {
					s.want(one.Email, s.kept[one.Email], one.At.UTC().Format(time.RFC3339Nano))
				}
			}
		},
	},
	{
		ask:  "May the trainee, who only reads, delete the opt-out of Ximena?",
		uses: []string{"contacts_lookup", "contacts_upsert"},
		given: func(s *session) {
			s.addContact("ximena@trainee.example", object{"unsubscribe_all": true})
		},
		steps: func(s *session) {
			s.token = s.p.Token(s, s.p.MCPURL, "api.contacts.view")
			s.want("the opt-out", at(s.call("contacts_lookup", object{"email": "ximena@trainee.example"}), "contact", "unsubscribe_all"), true)
			change := object{"email": "ximena@trainee.example", "attributes": object{"city": "Gent"}, "unsubscribe_all": false}
			got, _ := s.send(s.token, "contacts_upsert", change)
			s.want("the status", got.Status, 403)
			s.wantIn("the challenge", got.Header.Get("WWW-Authenticate"), `error="insufficient_scope"`, `scope="api.contacts.manage"`)
			delete(change, "unsubscribe_all") // a trainer says no, and changes the city
			s.token = s.p.Token(s, s.p.MCPURL, "api.contacts.manage")
			s.call("contacts_upsert", change)
		},
		check: func(s *session) {
			found := s.contact("ximena@trainee.example")
			s.want("the opt-out", found["unsubscribe_all"], true)
			s.want("the city", at(found, "attributes", "city"), "Gent")
		},
	},
}

// keepPast keeps the window "from" and "to" (also as the time "end") of 30 days until an hour ago.
// Other tasks send no mail in it.
func (s *session) keepPast() {
	end := s.p.Clock.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	s.kept["end"], s.kept["to"], s.kept["from"] = end, end.Format(time.RFC3339), end.AddDate(0, 0, -30).Format(time.RFC3339)
}

// suppressedContact returns the address of a contact that the account suppresses after a bounce. It is not
// the one that another task changes.
func (s *session) suppressedContact() string {
	s.Helper()
	for _, one := range items(s.get("/v1/suppressions?limit=50"), "data") {
		if found, err := s.p.DB.Contacts().ContactByEmail(s.Context(), s.p.OrgID, text(one, "email")); err == nil && found.Email != abel && text(one, "reason") == "bounce" {
			return found.Email
		}
	}
	s.Fatal("no contact is suppressed after a bounce")
	return ""
}
