package browser_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/workflows"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// goodCustomers is a workflow that the contacts of the demo enter at its activation.
const goodCustomers = `# Thanks the customers who buy a lot, and asks the others of them back.
workflow "Thank good customers" v1 {
  enter on segment "good-customers"
  exit "unsubscribed" when unsubscribed from all
  reentry on rematch

  send "welcome" via topic "product-news"
  wait up to 3 days until exists(click within 3d) {
    timeout:
      send "welcome" via topic "brewing-tips"
  }
  if attr.wholesale = true {
    wait 2 days
    send "welcome" transactional
  } else if attr.orders >= 10 {
    split {
      50%: {
        wait 1 day
      }
      50%: {
        wait 2 days
      }
    }
  } else {
    hold out 10%
  }
  wait 1 week
  send "welcome" via topic "product-news"
}
`

// TestWorkflows writes a workflow and sees its faults and its diagram change without a reload.
// It tries the workflow with a contact, activates it, decides about its messages and looks at
// its runs.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	s := newScene(t, product.Options{Past: true})
	tab := browser.Open(t, browser.Options{})
	s.openSignedIn(tab, "/dashboard/workflows/new")
	tab.Expect(http.StatusOK, "New workflow", "Write a workflow to see what it does", "Start from an example")
	tab.Fill("#source", "workflow \"Thank good customers\" v1 {\n  enter on segment \"good-custmers\"\n  sned \"welcome\"\n}\n")
	tab.AwaitText("#preview", "Line 3, column 3")
	tab.Picture("workflow-faulty")
	tab.AsPhone()
	if tab.Bottom("#preview") > tab.Bottom(".writable") {
		t.Error("on a phone, the faults are below the list of what one can write")
	}
	tab.Fill("#source", goodCustomers)
	tab.AwaitText("#preview", "It can be activated")
	tab.Picture("workflow-new")
	tab.Accessible("#side")
	tab.Submit("main form button.primary")
	tab.Expect(http.StatusOK, "The draft is saved", "Activate version 1")
	one := tab.Address().Path[:len("/dashboard/workflows/")+36]
	s.tryAndActivate(tab, one)
	s.decide(tab, one)
	s.lookAtRuns(tab, one)
	s.changeAgain(tab, one)
}

// tryAndActivate tries a workflow with a contact and by the last 90 days, and activates it.
func (s *scene) tryAndActivate(tab *browser.Tab, one string) {
	s.t.Helper()
	tab.Go(s.p.AppURL + one + "/try")
	tab.Fill("#contact", s.customer())
	tab.Submit(".filters button.primary")
	tab.Expect(http.StatusOK, "Would be sent", "Steps for")
	tab.Picture("workflow-try")
	tab.Accessible("#side")
	tab.Go(s.p.AppURL + one + "/past")
	tab.Expect(http.StatusOK, "contacts would have entered")
	tab.Picture("workflow-past")
	tab.Go(s.p.AppURL + one + "/activate")
	tab.Expect(http.StatusOK, "Activate version 1 of the workflow", "Each message waits until a person approves it")
	tab.Picture("workflow-activate")
	tab.Accessible("#side")
	tab.Submit("main form button.primary")
	tab.Expect(http.StatusOK, "The workflow is active")
}

// decide decides about the messages of a workflow that wait.
func (s *scene) decide(tab *browser.Tab, one string) {
	s.t.Helper()
	s.awaitHeld(tab, one)
	tab.AsPhone()
	if tab.Width(".held thead") < 100 {
		s.t.Error("on a phone, the checkbox that chooses all messages is hidden")
	}
	tab.Picture("workflow-held")
	tab.Accessible("#side")
	tab.Mark("input[name=run]")
	tab.Submit("button[value=skip]")
	tab.Expect(http.StatusOK, "The messages are skipped")
	tab.Mark("input[data-all]")
	tab.Submit("button[value=approve]")
	tab.Expect(http.StatusOK, "The messages are approved")
	tab.Go(s.p.AppURL + "/dashboard/workflows")
	tab.Expect(http.StatusOK, "Thank good customers", "Under way", "Entered in 7 days")
	tab.Picture("workflows")
	tab.ExpectReachable()
	tab.Accessible("#side")
}

// lookAtRuns opens the overview of a workflow and the pages of its runs.
func (s *scene) lookAtRuns(tab *browser.Tab, one string) {
	s.t.Helper()
	tab.Go(s.p.AppURL + one)
	tab.Expect(http.StatusOK, "Journey", "Steps", "Runs came here", "Entered per day")
	tab.Picture("workflow-overview")
	tab.Accessible("#side")
	tab.Go(s.p.AppURL + one + "/runs")
	tab.Expect(http.StatusOK, "Under way", "Continues")
	tab.Picture("workflow-runs")
	tab.Go(s.p.AppURL + one + "/runs?step=1")
	tab.Submit("#rows tbody td:last-child a")
	tab.Expect(http.StatusOK, "Timeline", "Why it entered", "Entered")
	tab.Picture("workflow-run")
	tab.Accessible("#side")
}

// changeAgain saves another draft, compares it, and pauses the workflow.
func (s *scene) changeAgain(tab *browser.Tab, one string) {
	s.t.Helper()
	tab.Go(s.p.AppURL + one + "/source")
	tab.Fill("#source", goodCustomers+"# A remark.\n")
	tab.Submit("main form button.primary")
	tab.Expect(http.StatusOK, "The draft is saved", "Contacts enter version 1 until you activate the draft")
	tab.Picture("workflow-source")
	tab.Go(s.p.AppURL + one + "/compare?from=1&to=2")
	tab.Expect(http.StatusOK, "# A remark.")
	tab.Picture("workflow-compare")
	tab.Go(s.p.AppURL + one + "/versions")
	tab.Picture("workflow-versions")
	tab.Go(s.p.AppURL + one + "/settings")
	tab.Expect(http.StatusOK, "Approval of messages", "Archive workflow")
	tab.Picture("workflow-settings")
	tab.Go(s.p.AppURL + one + "/pause")
	tab.Submit("main form button.primary")
	tab.Expect(http.StatusOK, "The workflow is paused", "Resume")
	tab.Go(s.p.AppURL + "/dashboard/workflows/limit")
	tab.Mark("[name=limited][value=yes]")
	tab.Picture("workflow-limit")
	tab.Submit("main form button.primary")
	tab.Expect(http.StatusOK, "at most 3 messages within 1 week")
}

// customer returns the address of a contact in the segment of good customers.
func (s *scene) customer() string {
	s.t.Helper()
	segment, err := s.p.DB.Segments().Segment(s.t.Context(), s.p.OrgID, "good-customers")
	if err != nil {
		s.t.Fatal(err)
	}
	members, err := workflowstore.NewEntryStore(s.p.DB.DB).Candidates(s.t.Context(), s.p.OrgID, workflows.Trigger{Kind: workflows.OnSegment, Source: segment.ID}, time.Time{}, s.p.Clock.Now(), "", 1)
	if err != nil || len(members) == 0 {
		s.t.Fatalf("%v, %d members", err, len(members))
	}
	names, err := workflowstore.NewRunStore(s.p.DB.DB).ContactNames(s.t.Context(), s.p.OrgID, members)
	if err != nil {
		s.t.Fatal(err)
	}
	return names[members[0]]
}

// awaitHeld opens the page with the messages that wait, and loads it until it has some.
func (s *scene) awaitHeld(tab *browser.Tab, one string) {
	s.t.Helper()
	product.Await(s.t, 20*time.Second, func() error {
		tab.Go(s.p.AppURL + one + "/held")
		if !strings.Contains(tab.Text(), "Waits since") {
			return errors.New("no message waits: " + tab.Text())
		}
		return nil
	})
}
