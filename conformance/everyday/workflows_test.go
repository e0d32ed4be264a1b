package everyday

import (
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

// journey returns the source of a workflow that contacts enter by an activity.
func journey(name, activity, template, wait string) string {
	return strings.NewReplacer("NAME", name, "ACTIVITY", activity, "TEMPLATE", template, "WAIT", wait).Replace(`workflow "NAME" v1 {
  enter on activity.ACTIVITY

  send "TEMPLATE" transactional
  wait WAIT
  send "brewing-guide" via topic "brewing-tips"
}
`)
}

// workflowTasks are about workflows whose runs do not wait for a time.
var workflowTasks = []task{
	{
		ask:  "Write a welcome journey, try it with Ada and start it",
		uses: []string{"workflows_author", "contacts_lookup", "workflows_dry_run", "workflows_estimate_enrollment", "workflows_activate"},
		steps: func(s *session) {
			faulty := s.call("workflows_author", object{"source": journey("Warm welcome", "joined", "welcom", "3 days")})
			s.want("a misspelled template can be activated", faulty["can_be_activated"], false)
			fault := items(faulty, "diagnostics")[0]
			source := journey("Warm welcome", "joined", text(fault, "suggestion"), "3 days")
			saved := s.call("workflows_author", object{"workflow_id": faulty["workflow_id"], "source": source, "base_content_hash": faulty["content_hash"]})
			ref := object{"workflow": saved["workflow_id"]}
			ada := s.call("contacts_lookup", object{"email": s.p.Contact})
			tried := s.call("workflows_dry_run", object{"workflow": ref["workflow"], "contact_id": at(ada, "contact", "id")})
			s.want("the first step", at(items(tried, "steps")[0], "action"), "would-send")
			s.want("contacts that enter at once", s.call("workflows_estimate_enrollment", ref)["existing"], 0)
			started := s.confirmed("workflows_activate", ref)
			s.want("the previewed template", at(items(s.kept["preview"], "sends")[0], "template"), "welcome")
			s.want("each message waits for a person", started["require_send_approval"], true)
			s.kept["source"] = source
		},
		check: func(s *session) {
			found := s.get("/v1/workflows/warm-welcome")
			s.want("the status", found["status"], "active")
			s.want("the version", found["current_version"], 1)
			s.want("the source", s.source("warm-welcome", 1), s.kept["source"])
			s.want("runs", len(items(s.get("/v1/workflows/warm-welcome/runs"), "data")), 0)
		},
	},
	{
		ask:  "Let the second mail of the running rebate journey wait for a week",
		uses: []string{"workflows_get_performance", "workflows_author"},
		given: func(s *session) {
			saved := s.call("workflows_author", object{"source": journey("Rebate", "rebate_asked", "first-order", "2 days")})
			s.confirmed("workflows_activate", object{"workflow": saved["workflow_id"]})
		},
		steps: func(s *session) {
			listed := find(items(s.call("workflows_get_performance", object{}), "workflows"), "name", "Rebate")
			read := s.call("workflows_get_performance", object{"workflow": listed["key"], "include_source": true})
			source := strings.ReplaceAll(text(read, "details", "source"), "wait 2 days", "wait 1 week")
			refusal := s.refused("workflows_author", object{"key": listed["key"], "source": source}, "stale_content_hash")
			saved := s.call("workflows_author", object{"key": listed["key"], "source": source, "base_content_hash": refusal["content_hash"]})
			s.want("the draft", saved["version"], 2)
		},
		check: func(s *session) {
			found := s.get("/v1/workflows/rebate")
			s.want("the current version", found["current_version"], 1)
			s.wantIn("the running version", s.source("rebate", 1), "wait 2 days")
			s.wantIn("the draft", s.source("rebate", 2), "wait 1 week")
		},
	},
	{
		ask:  "What would a thank-you journey for good customers do, and for how many? Save nothing",
		uses: []string{"contacts_lookup", "workflows_dry_run", "workflows_estimate_enrollment"},
		given: func(s *session) {
			s.addContact("yara@thanks.example", object{"attributes": object{"orders": 9}})
		},
		steps: func(s *session) {
			source := `workflow "Thank you" v1 {
  enter on segment "good-customers"
  if attr.orders >= 10 { send "first-order" transactional } else { set attr.wholesale = false }
}`
			yara := s.call("contacts_lookup", object{"email": "yara@thanks.example"})
			tried := s.call("workflows_dry_run", object{"source": source, "contact_id": at(yara, "contact", "id")})
			s.want("the last step", items(tried, "steps")[len(items(tried, "steps"))-1]["action"], "would-set")
			s.kept["estimate"] = s.call("workflows_estimate_enrollment", object{"source": source, "days": 7})["existing"]
		},
		check: func(s *session) {
			s.want("the estimate", s.kept["estimate"], s.get("/v1/segments/good-customers")["member_count"])
			s.want("the attributes", s.contact("yara@thanks.example")["attributes"], object{"orders": 9})
			if all := s.get("/v1/workflows?limit=100"); find(items(all, "data"), "name", "Thank you") != nil {
				s.Error("the workflow is saved")
			}
		},
	},
}

// journeyTasks move the clock of their product.
var journeyTasks = []task{{
	ask:  "Ada signs up: start her onboarding journey, and tell me when she has both mails",
	uses: []string{"templates_author", "workflows_author", "workflows_activate", "activities_record", "workflows_get_performance"},
	given: func(s *session) {
		s.p.AwaitJob(s, channels.SyncArgs{}.Kind()) // it reads from which domain the organization may send
	},
	steps: func(s *session) {
		for _, slug := range []string{"onboarding-mail", "brewing-guide"} {
			s.call("templates_author", object{"slug": slug, "subject": slug, "html": "<p>Hello {{first_name}}</p>"})
		}
		saved := s.call("workflows_author", object{"source": journey("Onboarding", "signup", "onboarding-mail", "3 days")})
		s.confirmed("workflows_activate", object{"workflow": "onboarding"})
		s.call("activities_record", object{"activities": []object{{"email": s.p.Contact, "name": "signup"}}})
		s.approve(text(saved, "workflow_id"), "onboarding-mail")
		s.await(func() error { // the wait begins when the outcome of the mail is stored
			wait := items(s.call("workflows_get_performance", object{"workflow": "onboarding"}), "details", "funnel")[1]
			if wait["now"] != 1.0 {
				return fmt.Errorf("%v runs wait", wait["now"])
			}
			return nil
		})
		s.p.Clock.Advance(3*24*time.Hour + time.Minute)
		s.token = s.p.Token(s, s.p.MCPURL) // the old one has expired
		s.approve(text(saved, "workflow_id"), "brewing-guide")
		s.awaitPerformance("completed runs", 1, "run_counts", "completed")
	},
	check: func(s *session) {
		s.wantMail(s.p.Contact, "onboarding-mail", "Hello Ada")
		s.wantMail(s.p.Contact, "brewing-guide", "Hello Ada")
		run := items(s.get("/v1/workflows/onboarding/runs?status=completed"), "data")[0]
		s.want("the cause of the run", run["trigger_cause"], "activity_triggered")
		var events []string
		for _, e := range items(s.get("/v1/workflows/onboarding/runs/"+text(run, "id")+"/timeline"), "events") {
			events = append(events, text(e, "event_type"))
		}
		s.want("the number of held messages", strings.Count(fmt.Sprint(events), "send_held"), 2)
		first, second := s.mails("onboarding-mail")[0], s.mails("brewing-guide")[0]
		if apart := second.SentAt.Sub(first.SentAt); apart < 3*24*time.Hour {
			s.Errorf("the mails are %v apart", apart)
		}
	},
}}

// approve waits until the assistant sees a held message, decides as a person does on the
// dashboard, and waits for the mail.
func (s *session) approve(workflowID, subject string) {
	s.Helper()
	s.awaitPerformance("held messages", 1, "held")
	s.wantIn("the warnings", s.call("workflows_get_performance", object{})["warnings"], "1 message waits until a person approves it")
	run := items(s.get("/v1/workflows/"+workflowID+"/runs"), "data")[0]
	decided, err := s.p.Workflows.Decide(s.Context(), s.p.OrgID, workflowID, []string{text(run, "id")}, engine.Approved)
	if err != nil || len(decided) != 1 {
		s.Fatalf("approved %v, %v", decided, err)
	}
	s.await(func() error {
		if len(s.mails(subject)) == 0 {
			return fmt.Errorf("no mail has the subject %q", subject)
		}
		return nil
	})
}

// awaitPerformance waits until the tool shows the number in a member of the only workflow.
func (s *session) awaitPerformance(what string, number int, path ...string) {
	s.Helper()
	s.await(func() error {
		listed := items(s.call("workflows_get_performance", object{}), "workflows")
		if got := at(listed[0], path...); fmt.Sprint(got) != fmt.Sprint(number) {
			return fmt.Errorf("%v %s, want %d", got, what, number)
		}
		return nil
	})
}

// source returns the source of a version of a workflow, from the store.
func (s *session) source(key string, version int) string {
	s.Helper()
	found, err := s.p.Workflows.Store.Workflow(s.Context(), s.p.OrgID, key)
	if err != nil {
		s.Fatal(err)
	}
	stored, err := s.p.Workflows.Store.Version(s.Context(), s.p.OrgID, found.ID, version)
	if err != nil {
		s.Fatal(err)
	}
	return stored.Source
}
