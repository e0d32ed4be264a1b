package everyday

import (
	"net/http"
	"time"
)

// audienceTasks are about contacts, lists and segments.
var audienceTasks = []task{
	{
		ask:  "Nora has moved to Lyon: correct her city",
		uses: []string{"contacts_lookup", "contacts_upsert"},
		given: func(s *session) {
			s.addContact("nora@lyon.example", object{"attributes": object{"city": "Gent", "first_name": "Nora"}})
		},
		steps: func(s *session) {
			found := s.call("contacts_lookup", object{"email": "nora@lyon.example"})
			s.want("the old city", at(found, "contact", "attributes", "city"), "Gent")
			changed := s.call("contacts_upsert", object{"email": "nora@lyon.example", "attributes": object{"city": "Lyon"}})
			s.want("the result", changed["result"], "updated")
		},
		check: func(s *session) {
			s.want("the attributes", s.contact("nora@lyon.example")["attributes"], object{"city": "Lyon", "first_name": "Nora"})
		},
	},
	{
		ask:  "Put the buyers of last month on a list",
		uses: []string{"audience_get_schema", "segments_preview_predicate", "lists_list", "contacts_set_list_membership"},
		given: func(s *session) {
			s.addList("Buyers of the month")
			for email, daysAgo := range map[string]int{"olga@buyers.example": 3, "paul@buyers.example": 20, "long.ago@buyers.example": 45} {
				s.addContact(email, nil)
				s.rest(http.MethodPost, "/v1/activities", []object{
					{"email": email, "name": "espresso_bought", "occurred_at": s.p.Clock.Now().AddDate(0, 0, -daysAgo).Format(time.RFC3339)},
				})
			}
		},
		steps: func(s *session) {
			s.wantIn("the predicate language", s.call("audience_get_schema", object{})["predicate_language"], "exists(", "activity.")
			matches := s.call("segments_preview_predicate", object{"source": "exists(activity.espresso_bought within 30d)"})
			s.want("the number of buyers", matches["count"], 2)
			lists := items(s.call("lists_list", object{"query": "buyers of the month"}), "items")
			if len(lists) != 1 {
				s.Fatalf("%d lists have the name", len(lists))
			}
			for _, buyer := range items(matches, "sample") {
				s.call("contacts_set_list_membership", object{"contact": text(buyer, "contact_id"), "add": []any{lists[0]["key"]}})
			}
		},
		check: func(s *session) {
			s.want("the members", s.members("buyers-of-the-month"), []string{"olga@buyers.example", "paul@buyers.example"})
		},
	},
	{
		ask:  "Note that Quentin ordered twice; the second order was reported twice",
		uses: []string{"activities_record"},
		given: func(s *session) {
			s.kept["id"] = s.addContact("quentin@orders.example", nil)
		},
		steps: func(s *session) {
			order := func(key string) object {
				return object{"email": "quentin@orders.example", "name": "order_placed", "idempotency_key": key, "properties": object{"order": key}}
			}
			recorded := s.call("activities_record", object{"activities": []object{order("q-1"), order("q-2"), order("q-2")}})
			s.want("the last item is a duplicate", items(recorded, "items")[2]["duplicate"], true)
		},
		check: func(s *session) {
			s.want("the number of orders", len(items(s.get("/v1/contacts/"+s.keep("id")+"/activities"), "data")), 2)
		},
	},
	{
		ask:  "Save the new customer Rita; the connection broke, so save her again",
		uses: []string{"contacts_upsert"},
		steps: func(s *session) {
			rita := object{"email": "rita@new.example", "attributes": object{"first_name": "Rita", "orders": 1}}
			first := s.call("contacts_upsert", rita)
			again := s.call("contacts_upsert", rita)
			s.want("the first result", first["result"], "created")
			s.want("the second result", again["result"], "created")
			s.want("the second call is a replay", again["replayed"], true)
			s.want("the contact of the second call", text(again, "contact", "id"), text(first, "contact", "id"))
		},
		check: func(s *session) {
			found := s.contact("rita@new.example")
			s.want("the attributes", found["attributes"], object{"first_name": "Rita", "orders": 1})
			s.want("the last change", found["updated_at"], found["created_at"])
			s.want("the number of audited changes", s.audited("contacts_upsert", text(found, "id")), 1)
		},
	},
	{
		ask:  "Save that Sven has ordered seven times",
		uses: []string{"contacts_upsert", "audience_get_schema"},
		given: func(s *session) {
			s.addContact("sven@typos.example", nil)
		},
		steps: func(s *session) {
			refusal := s.refused("contacts_upsert", object{"email": "sven@typos.example", "attributes": object{"ordes": 7}}, "attribute_validation_failed")
			s.wantIn("the refusal", refusal["detail"], "ordes", "did you mean orders?")
			schema := s.call(text(refusal, "next_step", "tool"), object{})
			if find(items(schema, "attributes"), "name", "orders") == nil {
				s.Fatal("the schema has no attribute orders")
			}
			s.call("contacts_upsert", object{"email": "sven@typos.example", "attributes": object{"orders": 7}})
		},
		check: func(s *session) {
			s.want("the attributes", s.contact("sven@typos.example")["attributes"], object{"orders": 7})
		},
	},
	{
		ask:  "Add Tara to the harvest circle instead of the spring circle",
		uses: []string{"contacts_set_list_membership", "lists_list"},
		given: func(s *session) {
			s.addList("Harvest circle")
			s.addList("Spring circle", "tara@circles.example")
		},
		steps: func(s *session) {
			refusal := s.refused("contacts_set_list_membership", object{"contact": "tara@circles.example", "add": []string{"harvest"}, "remove": []string{"spring-circle"}}, "validation_failed")
			found := items(s.call(text(refusal, "next_step", "tool"), object{"query": "harvest circle"}), "items")
			if len(found) != 1 {
				s.Fatalf("%d lists have the name", len(found))
			}
			s.call("contacts_set_list_membership", object{"contact": "tara@circles.example", "add": []any{found[0]["key"]}, "remove": []string{"spring-circle"}})
		},
		check: func(s *session) {
			s.want("the harvest circle", s.members("harvest-circle"), []string{"tara@circles.example"})
			s.want("the spring circle", s.members("spring-circle"), []string{})
		},
	},
	{
		ask:  "How many good customers do we have, and how do we define them?",
		uses: []string{"segments_list", "segments_preview_predicate"},
		steps: func(s *session) {
			found := items(s.call("segments_list", object{"query": "good"}), "items")
			if len(found) != 1 {
				s.Fatalf("%d segments have the name", len(found))
			}
			s.kept["source"] = found[0]["source"]
			s.kept["count"] = s.call("segments_preview_predicate", object{"source": found[0]["source"]})["count"]
		},
		check: func(s *session) {
			stored := s.get("/v1/segments/good-customers")
			s.want("the predicate", s.kept["source"], stored["source"])
			s.want("the count", s.kept["count"], stored["member_count"])
		},
	},
	{
		ask:  "How many people are in the tasting club?",
		uses: []string{"lists_list"},
		steps: func(s *session) {
			s.kept["count"] = at(find(items(s.call("lists_list", object{}), "items"), "key", "tasting-club"), "member_count")
		},
		check: func(s *session) {
			members, cursor := 0, ""
			for range 10 {
				page := s.get("/v1/lists/tasting-club/members?limit=50&cursor=" + cursor)
				members += len(items(page, "data"))
				if cursor = text(page, "pagination", "next_cursor"); cursor == "" {
					break
				}
			}
			s.want("the number of members", s.kept["count"], members)
		},
	},
}

// consentTasks are about what contacts want to get.
var consentTasks = []task{
	{
		ask:  "Uma wants no offers any more, but still our other mail",
		uses: []string{"audience_get_schema", "contacts_upsert"},
		given: func(s *session) {
			s.addContact("uma@choices.example", object{"topic_preferences": object{"offers": "OPT_IN", "events": "OPT_IN"}})
		},
		steps: func(s *session) {
			topic := find(items(s.call("audience_get_schema", object{}), "topics"), "display_name", "Offers")
			s.call("contacts_upsert", object{"email": "uma@choices.example", "topic_preferences": object{text(topic, "name"): "OPT_OUT"}})
		},
		check: func(s *session) {
			s.await(func() error {
				return s.consent("uma@choices.example", false, map[string]string{"offers": "OPT_OUT", "events": "OPT_IN"})
			})
		},
	},
	{
		ask:  "Stop all mail to Vera at once",
		uses: []string{"contacts_upsert"},
		given: func(s *session) {
			s.addContact("vera@choices.example", nil)
		},
		steps: func(s *session) {
			changed := s.call("contacts_upsert", object{"email": "vera@choices.example", "unsubscribe_all": true})
			s.want("mailable", at(changed, "contact", "mailable"), false)
		},
		check: func(s *session) {
			s.want("the opt-out", s.contact("vera@choices.example")["unsubscribe_all"], true)
			s.await(func() error { return s.consent("vera@choices.example", true, nil) })
		},
	},
	{
		ask:  "Willem has left his company: remove him from our audience",
		uses: []string{"contacts_lookup", "contacts_archive"},
		given: func(s *session) {
			s.addList("Company buyers", "willem@company.example", "xenia@company.example")
		},
		steps: func(s *session) {
			found := s.call("contacts_lookup", object{"email": "willem@company.example"})
			s.want("the lists", len(items(found, "contact", "lists")), 1)
			s.want("archived", s.call("contacts_archive", object{"email": "willem@company.example"})["archived"], true)
		},
		check: func(s *session) {
			found := s.contact("willem@company.example")
			s.want("the status", found["status"], "archived")
			s.want("mailable", found["mailable"], false)
			s.want("the members", s.members("company-buyers"), []string{"xenia@company.example"})
		},
	},
}
