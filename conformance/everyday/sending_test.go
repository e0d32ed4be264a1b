package everyday

import (
	"fmt"
	"net/http"
	"time"
)

// me is the address of the person who asks.
const me = "robin@example.com"

// sendingTasks are about sending mail to an audience.
var sendingTasks = []task{
	{
		ask:  "Send the newsletter to the customers in Lyon, after a test to me",
		uses: []string{"lists_list", "broadcasts_compose", "broadcasts_preview", "broadcasts_test_send", "broadcasts_send", "broadcasts_get_status"},
		given: func(s *session) {
			list := s.addList("Customers in Lyon", "amelie@lyon.example", "bernard@lyon.example")
			s.addContact("claude@lyon.example", object{"lists": object{"add": []string{list}}, "topic_preferences": object{"product-news": "OPT_OUT"}})
			s.rest(http.MethodPatch, "/v1/contacts/amelie@lyon.example", object{"attributes": object{"first_name": "Amelie"}})
		},
		steps: func(s *session) {
			list := items(s.call("lists_list", object{"query": "Lyon"}), "items")[0]
			draft := s.call("broadcasts_compose", object{
				"name": "News for Lyon", "audience_kind": "list", "audience_id": list["key"], "topic_id": "product-news",
				"subject": "A roastery in Lyon", "html": "<p>Dear {{first_name}}, we open in Lyon.</p>", "template_data": object{"first_name": "friend"},
			})
			s.want("the estimate", at(draft, "audience_estimate", "mailable"), 2)
			id := text(draft, "broadcast_id")
			s.wantIn("the variables", s.call("broadcasts_preview", object{"broadcast_id": id})["variables"], "first_name")
			s.want("the sent tests", s.call("broadcasts_test_send", object{"broadcast_id": id, "recipients": []string{me}})["sent"], 1)
			s.want("the status", s.confirmed("broadcasts_send", object{"broadcast_id": id})["status"], "sending")
			s.want("the previewed recipients", at(s.kept["preview"], "mailable"), 2)
			s.await(func() error {
				if status := s.call("broadcasts_get_status", object{"broadcast_id": id}); status["state"] != "sent" {
					return fmt.Errorf("the broadcast is %v", status["state"])
				}
				return nil
			})
		},
		check: func(s *session) {
			s.wantMail("amelie@lyon.example", "A roastery in Lyon", "Dear Amelie, we open in Lyon.")
			s.wantMail("bernard@lyon.example", "A roastery in Lyon", "Dear friend, we open in Lyon.")
			s.want("mails to a contact who opted out of the topic", len(s.mails("claude@lyon.example")), 0)
			s.wantMail(me, "[TEST] A roastery in Lyon", "we open in Lyon.")
		},
	},
	{
		ask:  "Tell the tenants that the water is off on Monday",
		uses: []string{"broadcasts_compose", "broadcasts_send"},
		given: func(s *session) {
			s.addList("Tenants", "tenant@house.example")
		},
		steps: func(s *session) {
			id := s.compose("Water", "tenants", "")
			refusal := s.refused("broadcasts_send", object{"broadcast_id": id}, "no_topic_acknowledgement_required")
			s.wantIn("the hint", refusal["hint"], "acknowledge_no_topic: true")
			s.confirmed("broadcasts_send", object{"broadcast_id": id, "acknowledge_no_topic": true})
		},
		check: func(s *session) {
			s.wantMail("tenant@house.example", "Water", "Dear reader")
		},
	},
	{
		ask:  "Send the menu, but ask me again if the number of recipients changes",
		uses: []string{"broadcasts_compose", "broadcasts_send"},
		given: func(s *session) {
			s.addList("Menu readers", "first@menu.example")
		},
		steps: func(s *session) {
			send := object{"broadcast_id": s.compose("Menu", "menu-readers", "product-news")}
			asked := s.call("broadcasts_send", send)
			s.addContact("second@menu.example", object{"lists": object{"add": []string{"menu-readers"}}})
			agreed := object{"broadcast_id": send["broadcast_id"], "confirmation_token": asked["confirmation_token"]}
			refusal := s.refused("broadcasts_send", agreed, "confirmation_invalid")
			next, _ := at(refusal, "next_step", "arguments").(object)
			s.want("the next step", next, send)
			s.confirmed(text(refusal, "next_step", "tool"), next)
			s.want("the recipients of the second question", at(s.kept["preview"], "mailable"), 2)
		},
		check: func(s *session) {
			s.wantMail("first@menu.example", "Menu", "Dear reader")
			s.wantMail("second@menu.example", "Menu", "Dear reader")
		},
	},
	{
		ask:  "Send me and Wanda a test of the receipt",
		uses: []string{"templates_list", "templates_test_send"},
		steps: func(s *session) {
			receipt := find(items(s.call("templates_list", object{"query": "receipt"}), "items"), "slug", "order-receipt")
			sent := s.call("templates_test_send", object{
				"slug": receipt["slug"], "recipients": []string{me, "wanda@tests.example"}, "data": object{"first_name": "Robin", "order": "F-77"},
			})
			s.want("the sent tests", sent["sent"], 2)
		},
		check: func(s *session) {
			s.wantMail(me, "[TEST] Your Fernhill receipt", "Thank you for your order F-77.")
			s.wantMail("wanda@tests.example", "[TEST] Your Fernhill receipt", "Thank you for your order F-77.")
		},
	},
}

// scheduleTasks are about broadcasts before and after they are sent.
var scheduleTasks = []task{
	{
		ask:  "Send the invitation in two days",
		uses: []string{"broadcasts_compose", "broadcasts_send"},
		given: func(s *session) {
			s.addList("Guests", "guest@party.example")
			s.kept["at"] = s.p.Clock.Now().AddDate(0, 0, 2).UTC().Format(time.RFC3339)
		},
		steps: func(s *session) {
			s.kept["id"] = s.compose("Party", "guests", "events")
			s.want("the status", s.confirmed("broadcasts_send", object{"broadcast_id": s.kept["id"], "scheduled_at": s.kept["at"]})["status"], "scheduled")
		},
		check: func(s *session) {
			found := s.get("/v1/broadcasts/" + s.keep("id"))
			s.want("the state", found["state"], "scheduled")
			s.want("the time", found["schedule_at"], s.kept["at"])
			s.want("mails before the time", len(s.mails("guest@party.example")), 0)
		},
	},
	{
		ask:  "Show me what Yves will get from the spring mail, and send nothing",
		uses: []string{"contacts_lookup", "broadcasts_compose", "broadcasts_preview"},
		given: func(s *session) {
			list := s.addList("Spring readers", "other@spring.example")
			s.addContact("yves@spring.example", object{"attributes": object{"first_name": "Yves"}, "lists": object{"add": []string{list}}})
		},
		steps: func(s *session) {
			yves := s.call("contacts_lookup", object{"email": "yves@spring.example"})
			s.kept["id"] = s.compose("Spring mail", "spring-readers", "product-news")
			preview := s.call("broadcasts_preview", object{"broadcast_id": s.kept["id"], "contact_id": at(yves, "contact", "id")})
			s.want("the recipient", at(preview, "sample", "email"), "yves@spring.example")
			s.wantIn("the mail", at(preview, "sample", "html"), "Dear Yves")
			s.want("members who get another greeting", items(preview, "variables")[0]["by_default"], 1)
		},
		check: func(s *session) {
			s.want("the state", s.get("/v1/broadcasts/" + s.keep("id"))["state"], "draft")
			s.want("mails", len(s.mails("@spring.example")), 0)
		},
	},
	{
		ask:  "Has the newsletter of the week gone out, and to how many people?",
		uses: []string{"broadcasts_get_status"},
		given: func(s *session) {
			sent := find(items(s.get("/v1/broadcasts?limit=100"), "data"), "name", "Newsletter of the week")
			s.kept["id"] = text(sent, "id")
		},
		steps: func(s *session) {
			s.kept["status"] = s.call("broadcasts_get_status", object{"broadcast_id": s.kept["id"]})
		},
		check: func(s *session) {
			s.want("the state", at(s.kept["status"], "state"), "sent")
			sent, err := s.p.DB.Broadcasts().Broadcast(s.Context(), s.p.OrgID, s.keep("id"))
			if err != nil {
				s.Fatal(err)
			}
			s.want("the recipients", at(s.kept["status"], "summary", "sent"), sent.Sent)
			s.want("the audience", at(s.kept["status"], "summary", "audience_size"), *sent.AudienceSize)
		},
	},
	{
		ask:  "Can we send mail from our account today, and how much?",
		uses: []string{"sending_readiness_check"},
		steps: func(s *session) {
			s.kept["answer"] = s.call("sending_readiness_check", object{})
		},
		check: func(s *session) {
			account, err := s.p.Simulator.Overview(s.Context(), s.p.OrgID)
			if err != nil {
				s.Fatal(err)
			}
			s.want("ready", at(s.kept["answer"], "ready"), account.SendingEnabled)
			s.want("in the sandbox", at(s.kept["answer"], "sandbox"), s.get("/v1/account")["aws"].(object)["sandbox"])
			s.want("the quota", at(s.kept["answer"], "send_quota", "max_24_hour"), int(account.Max24HourSend))
			s.wantIn("the checks", at(s.kept["answer"], "checks"), "example.net") // its DNS records are missing
		},
	},
}

// compose writes a draft with the tool and returns its id.
func (s *session) compose(subject, list, topic string) string {
	s.Helper()
	arguments := object{
		"name": subject, "subject": subject, "html": "<p>Dear {{first_name}}, this is new.</p>", "template_data": object{"first_name": "reader"},
		"audience_kind": "list", "audience_id": list,
	}
	if topic != "" {
		arguments["topic_id"] = topic
	}
	return text(s.call("broadcasts_compose", arguments), "broadcast_id")
}

// wantMail waits until the simulated account has sent exactly one mail with the subject to the
// address, and checks that its HTML has the text.
func (s *session) wantMail(address, subject, part string) {
	s.Helper()
	s.await(func() error {
		var bodies []string
		for _, m := range s.mails(address) {
			if m.Subject == subject {
				bodies = append(bodies, m.HTML)
			}
		}
		if len(bodies) != 1 {
			return fmt.Errorf("%d mails to %s have the subject %q", len(bodies), address, subject)
		}
		s.wantIn("the mail to "+address, bodies[0], part)
		return nil
	})
}
