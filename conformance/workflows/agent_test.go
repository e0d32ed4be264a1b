package workflows

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// thanks is a workflow for a segment of the demo.
const thanks = `workflow "Thanks" v1 {
  enter on segment "good-customers"

  send "thank-you" transactional
  wait 2 days
}
`

// TestAnAssistantMakesAWorkflow lets an assistant write a workflow with a fault, correct it, try
// it, activate it with a confirmation and read how it performs. The integrator sees the same.
func TestAnAssistantMakesAWorkflow(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		s := newScene(t, p)
		product.Await(t, time.Minute, func() error { // a job computes the members
			if data := s.get(t, "/v1/segments/good-customers/members?limit=1", 200)["data"].([]any); len(data) == 0 {
				return errors.New("the segment has no members")
			}
			return nil
		})
		faulty := s.ask(t, "workflows_author", object{"key": "thanks", "source": strings.ReplaceAll(thanks, "good-customers", "good-customer")})
		want(t, "a source with a fault", faulty, object{"status": "saved", "version": 1, "can_be_activated": false, "explanation": nil})
		if fault := faulty["diagnostics"].([]any)[0].(object); fault["severity"] != "error" || fault["line"] != 2.0 || fault["suggestion"] != "good-customers" {
			t.Errorf("the fault: %v", fault)
		}
		want(t, "activating a fault", s.ask(t, "workflows_activate", object{"workflow": "thanks"}), object{"code": "validation_failed"})
		want(t, "without the hash", s.ask(t, "workflows_author", object{"key": "thanks", "source": thanks}), object{"code": "stale_content_hash", "content_hash": faulty["content_hash"]})
		saved := s.ask(t, "workflows_author", object{"key": "thanks", "source": thanks, "base_content_hash": faulty["content_hash"]})
		want(t, "the correction", saved, object{"version": 1, "can_be_activated": true, "workflow_id": faulty["workflow_id"]})

		estimate := s.ask(t, "workflows_estimate_enrollment", object{"workflow": "thanks", "days": 3})
		want(t, "the estimate", estimate, object{"effective_scope": "existing", "sampled": false})
		preview, activated := s.confirmed(t, "workflows_activate", object{"workflow": "thanks"})
		want(t, "the preview", preview, object{"would_enroll": estimate["existing"], "require_send_approval": true, "version": 1})
		want(t, "the activation", activated, object{"status": "active", "require_send_approval": true, "version": 1})
		want(t, "again", s.ask(t, "workflows_activate", object{"workflow": "thanks"}), object{"code": "conflict"})

		product.Await(t, time.Minute, func() error {
			found := s.get(t, "/v1/workflows/thanks", 200)
			if counts := found["run_counts"].(object); counts["active"] != estimate["existing"] {
				return fmt.Errorf("%v of %v contacts have entered", counts["active"], estimate["existing"])
			}
			return nil
		})
		checkHeld(t, s, estimate["existing"])
	})
}

// checkHeld checks that all runs wait for a person, as both surfaces see it.
func checkHeld(t *testing.T, s scene, runs any) {
	t.Helper()
	var performance, brief object
	product.Await(t, time.Minute, func() error {
		performance = s.ask(t, "workflows_get_performance", object{"workflow": "thanks", "include_source": true})
		brief = performance["workflows"].([]any)[0].(object)
		if brief["held"] != runs {
			return fmt.Errorf("%v messages are held", brief["held"])
		}
		return nil
	})
	details := performance["details"].(object)
	if warnings := fmt.Sprint(performance["warnings"]); !strings.Contains(warnings, "until a person approves them") || details["source"] != thanks {
		t.Errorf("warnings %s, source %v", warnings, details["source"])
	}
	funnel := s.get(t, "/v1/workflows/thanks/funnel", 200)
	first := funnel["nodes"].([]any)[0].(object)
	want(t, "the first step", first, object{"node_path": "0", "node_type": "send", "runs": runs})
	if diff := cmp.Diff(funnel["sends"], details["sends"]); diff != "" {
		t.Errorf("the sends differ (-REST +agent):\n%s", diff)
	}
	page := s.get(t, "/v1/workflows/thanks/runs?status=active,failed&limit=2", 200)
	run := page["data"].([]any)[0].(object)
	want(t, "a run", run, object{"status": "active", "trigger_cause": "back_enrolled", "trigger_source_key": "good-customers", "definition_version": 1, "completed_at": nil})
	if _, shown := run["email"]; shown || page["counts"].(object)["active"] != runs {
		t.Errorf("a page of runs: %v", page)
	}
	timeline := s.get(t, "/v1/workflows/thanks/runs/"+run["id"].(string)+"/timeline", 200)
	var types []any
	for _, event := range timeline["events"].([]any) {
		types = append(types, event.(object)["event_type"])
	}
	if !cmp.Equal(types, []any{"enrolled", "step_entered", "send_held"}) {
		t.Errorf("the timeline: %v", types)
	}
	if exits := s.get(t, "/v1/workflows/thanks/exits", 200)["data"].([]any); len(exits) != 0 {
		t.Errorf("exits: %v", exits)
	}
}

// withoutTimes compares texts without the ends of waits: a minute may pass between two calls.
var (
	endOfWait    = regexp.MustCompile(`until [-0-9]+ [0-9:]+ UTC`)
	withoutTimes = cmp.Comparer(func(a, b string) bool { return endOfWait.ReplaceAllString(a, "") == endOfWait.ReplaceAllString(b, "") })
)

// TestDryRunsAreTheSameOnBothSurfaces tries a workflow for a contact by the route and by the
// tool, and a source that is not saved by the tool alone.
func TestDryRunsAreTheSameOnBothSurfaces(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		s := newScene(t, p)
		contact := s.ask(t, "contacts_lookup", object{"email": p.Contact})["contact"].(object)["id"]
		saved := s.ask(t, "workflows_author", object{"source": thanks})
		id, body := saved["workflow_id"].(string), fmt.Sprintf(`{"contact_id":%q}`, contact)
		byRoute := s.send(t, http.MethodPost, "/v1/workflows/"+id+"/dry-run", body, 200)
		byTool := s.ask(t, "workflows_dry_run", object{"workflow": id, "contact_id": contact})
		if diff := cmp.Diff(byRoute["steps"], byTool["steps"], withoutTimes); diff != "" || len(byRoute["steps"].([]any)) != 2 {
			t.Errorf("%v; the steps differ (-route +tool):\n%s", byRoute, diff)
		}
		unsaved := s.ask(t, "workflows_dry_run", object{"source": thanks, "contact_id": contact})
		if diff := cmp.Diff(byTool["steps"], unsaved["steps"], withoutTimes); diff != "" {
			t.Errorf("the steps of the source differ (-saved +given):\n%s", diff)
		}
		faulty := s.ask(t, "workflows_dry_run", object{"source": "workflow", "contact_id": contact})
		if len(faulty["diagnostics"].([]any)) == 0 || len(faulty["steps"].([]any)) != 0 {
			t.Errorf("a source with a fault: %v", faulty)
		}
		want(t, "no workflow", s.ask(t, "workflows_dry_run", object{"contact_id": contact}), object{"code": "validation_failed"})
		want(t, "an unknown contact", s.ask(t, "workflows_dry_run", object{"source": thanks, "contact_id": "none"}), object{"code": "not_found"})
		s.send(t, http.MethodPost, "/v1/workflows/"+id+"/dry-run", `{"contact_id":"none"}`, 404)
		s.send(t, http.MethodPost, "/v1/workflows/none/dry-run", body, 404)
		s.ask(t, "workflows_author", object{"workflow_id": id, "source": "workflow", "base_content_hash": saved["content_hash"]})
		s.send(t, http.MethodPost, "/v1/workflows/"+id+"/dry-run", body, 422)
	})
}

// TestRefusals checks what assistants and integrators are refused.
func TestRefusals(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		s := newScene(t, p)
		saved := s.ask(t, "workflows_author", object{"key": "thanks", "source": thanks})
		other := scene{p, p.Other.Live.APIKey, p.TokenWith(t, p.Other.Live, p.MCPURL)}
		id := saved["workflow_id"].(string)
		for _, path := range []string{"", "/runs", "/exits", "/funnel", "/runs/none/timeline"} {
			other.get(t, "/v1/workflows/"+id+path, 404)
		}
		for tool, arguments := range map[string]object{
			"workflows_get_performance": {"workflow": id}, "workflows_estimate_enrollment": {"workflow": id}, "workflows_activate": {"workflow": id},
			"workflows_author": {"workflow_id": id, "source": thanks},
		} {
			want(t, tool+" of another organization", other.ask(t, tool, arguments), object{"code": "not_found"})
		}
		s.get(t, "/v1/workflows/thanks/runs?status=running", 422)
		s.get(t, "/v1/workflows/thanks/funnel?version=2", 404)
		s.get(t, "/v1/workflows/thanks/runs/none/timeline", 404)
		want(t, "the funnel of a draft", s.get(t, "/v1/workflows/thanks/funnel", 200), object{"version": 0})
		want(t, "both names", s.ask(t, "workflows_author", object{"key": "thanks", "workflow_id": id, "source": thanks}), object{"code": "validation_failed"})
		listed := s.ask(t, "workflows_get_performance", object{})
		want(t, "the list", listed, object{"total": 1, "truncated": false, "details": nil})

		if got := p.Send(t, p.ToAgent(p.TokenWith(t, p.Test, p.MCPURL), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workflows_activate","arguments":{"workflow":"thanks"}}}`)); !strings.Contains(got.Body, "test_environment_forbidden") {
			t.Errorf("test credentials: %d %s", got.Status, got.Body)
		}
		asked := s.ask(t, "workflows_activate", object{"workflow": "thanks"})
		s.ask(t, "workflows_author", object{"key": "thanks", "source": strings.ReplaceAll(thanks, "2 days", "3 days"), "base_content_hash": saved["content_hash"]})
		want(t, "another draft than the confirmed one", s.ask(t, "workflows_activate", object{"workflow": "thanks", "confirmation_token": asked["confirmation_token"]}), object{"code": "confirmation_invalid"})
		want(t, "the status", s.get(t, "/v1/workflows/thanks", 200), object{"status": "draft", "current_version": 0})
	})
}
