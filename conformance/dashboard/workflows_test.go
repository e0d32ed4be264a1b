package dashboard_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// thanks is a workflow that some contacts of the demo enter at its activation.
const thanks = `workflow "Thanks" v1 {
  enter on segment "good-customers"
  send "welcome" transactional
  wait 2 days
  send "welcome" via topic "brewing-tips"
}
`

// chosen matches the messages in a form with messages that wait.
var chosen = regexp.MustCompile(`name="run" value="([^"]+)"`)

// TestWorkflowsOnTheDashboard writes a workflow without script, sees its faults, and is refused
// a save that another one has overtaken. It activates the workflow, pauses and resumes it, and
// approves, skips and cancels messages.
func TestWorkflowsOnTheDashboard(t *testing.T) {
	t.Parallel()
	product.EachWith(t, product.Options{Past: true}, func(t *testing.T, p *product.Product) {
		b := owner(t, p)
		path := b.writeWorkflow()
		b.overtake(path)
		form := b.form(b.open(path+"/activate"), path+"/activate")
		b.wants(b.open(path+"/activate"), "existing contacts enter at once", "Each message waits until a person approves it")
		for range 2 { // a form that is sent twice activates once
			status, location, text := b.send(path+"/activate", form)
			if status != http.StatusSeeOther || !strings.Contains(location, "done=activated") {
				t.Fatalf("activate: %d %s", status, text)
			}
		}
		b.decideAboutMessages(path)
		b.wants(b.submit(b.open(path+"/pause"), path+"/pause", unchanged), "The workflow is paused", `<span class="mark ">Paused</span>`)
		b.wants(b.submit(b.open(path+"/resume"), path+"/resume", unchanged), "The workflow is active again")
		b.wants(b.submit(b.open(path+"/settings"), path+"/settings", func(form url.Values) { form.Set("approval", "none") }), "The settings are saved")
		b.wants(b.open(path+"/past"), "contacts would have entered", "Messages by step")
		b.wants(b.submit(b.open(path+"/archive"), path+"/archive", unchanged), "The workflow is archived")
		b.wants(b.open("/dashboard/workflows?status=archived"), "Thanks")
		b.wants(b.open("/dashboard/audit"), "Workflow created", "Draft of a workflow saved", "Workflow activated", "Workflow paused", "Workflow resumed", "Workflow archived",
			"Messages of a workflow approved", "Messages of a workflow skipped", "Messages of a workflow cancelled", "Approval of messages of a workflow set")
	})
}

// writeWorkflow writes a workflow with a fault, saves it, and returns its path.
func (b *browser) writeWorkflow() string {
	b.t.Helper()
	const page = "/dashboard/workflows/new"
	faulty := strings.Replace(thanks, "good-customers", "good-custmers", 1)
	checked := b.submit(b.open(page), page, func(form url.Values) { form.Set("source", faulty); form.Set("do", "preview") })
	b.wants(checked, "Line 2, column", "Did you mean", "good-customers")
	form := b.form(checked, page)
	form.Set("source", faulty)
	status, location, text := b.send(page, form)
	if status != http.StatusSeeOther {
		b.t.Fatalf("create: %d %s", status, text)
	}
	path, _, _ := strings.Cut(location, "/source")
	status, _, text = b.send(path+"/activate", nil)
	if status != http.StatusUnprocessableEntity || !strings.Contains(text, "The draft has faults") {
		b.t.Errorf("activation of a faulty draft: %d %s", status, text)
	}
	return path
}

// overtake opens the source twice, and saves the second form before the first.
func (b *browser) overtake(path string) {
	b.t.Helper()
	source := path + "/source"
	first := b.form(b.open(source), source)
	b.wants(b.submit(b.open(source), source, func(form url.Values) { form.Set("source", thanks) }), "The draft is saved", "It can be activated")
	first.Set("source", strings.Replace(thanks, "2 days", "3 days", 1))
	status, _, text := b.send(source, first)
	if status != http.StatusConflict {
		b.t.Errorf("an overtaken save: %d", status)
	}
	b.wants(text, "Nothing is saved", "What your text changes in version 1", "Save over version 1")
}

// decideAboutMessages decides in bulk about the messages of the workflow, and waits until their
// runs have moved.
func (b *browser) decideAboutMessages(path string) {
	b.t.Helper()
	held, page := path+"/held", ""
	product.Await(b.t, 20*time.Second, func() error {
		if page = b.open(held); len(chosen.FindAllString(page, -1)) < 6 {
			return fmt.Errorf("too few messages wait: %s", page)
		}
		return nil
	})
	b.wants(b.open("/dashboard/approvals"), "messages of workflows wait", `href="/dashboard/workflows/held"`)
	b.wants(b.open("/dashboard/workflows/held"), "Thanks", "Approve", "Skip", "Cancel")
	decided := map[string][]string{}
	for i, do := range []string{"approve", "skip", "cancel"} {
		for _, match := range chosen.FindAllStringSubmatch(page, -1)[2*i : 2*i+2] {
			decided[do] = append(decided[do], match[1])
		}
		after := b.submit(page, held, func(form url.Values) { form["run"] = decided[do]; form.Set("do", do) })
		b.wants(after, map[string]string{"approve": "The messages are approved", "skip": "The messages are skipped", "cancel": "The messages are cancelled"}[do])
	}
	again := b.submit(page, held, func(form url.Values) { form["run"] = decided["skip"]; form.Set("do", "cancel") })
	b.wants(again, "Another person decided about some of these messages before")
	for do, want := range map[string]engine.Status{"approve": engine.Active, "skip": engine.Active, "cancel": engine.Exited} {
		for _, id := range decided[do] {
			b.awaitRun(path, id, do, want)
		}
	}
	b.wants(b.open(path+"/runs/"+decided["cancel"][0]), "A person cancelled a message", "Message waits for approval")
	b.wants(b.open(path+"/runs/"+decided["approve"][0]), "It waits.", "Until")
	b.wants(b.open(path), "Runs came here", "Are here now", "Left", "workflow-diagram")
	b.wants(b.open(path+"/runs?status=exited"), "A person cancelled a message")
}

// awaitRun waits until a run has left its first step.
func (b *browser) awaitRun(path, id, do string, want engine.Status) {
	b.t.Helper()
	product.Await(b.t, 20*time.Second, func() error {
		run, err := workflowstore.NewRunStore(b.p.DB.DB).Run(b.t.Context(), b.p.OrgID, path[strings.LastIndexByte(path, '/')+1:], id)
		if err != nil {
			return err
		}
		if run.State.Status != want || want == engine.Active && run.State.Node != "1" {
			return fmt.Errorf("%s: %+v", do, run.State)
		}
		return nil
	})
}

// TestWorkflowLimitOnTheDashboard sets the limit of messages of all workflows.
func TestWorkflowLimitOnTheDashboard(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		b := owner(t, p)
		const page = "/dashboard/workflows/limit"
		list := b.submit(b.open(page), page, func(form url.Values) {
			form.Set("limited", "yes")
			form.Set("messages", "2")
			form.Set("amount", "3")
			form.Set("unit", "day")
		})
		b.wants(list, "The limit is saved", "at most 2 messages within 3 days")
		limit, err := workflowstore.New(p.DB.DB).Cap(t.Context(), p.OrgID)
		if err != nil || limit == nil || limit.Messages != 2 {
			t.Errorf("%v %v", limit, err)
		}
		b.wants(b.submit(b.open(page), page, func(form url.Values) { form.Set("limited", "no") }), "No limit on the messages")
		b.wants(b.open("/dashboard/audit"), "Limit of messages of workflows set")
		if status, _, _ := b.send("/dashboard/workflows/"+workflows.SendID("x", 1, "0"), nil); status != http.StatusNotFound {
			t.Errorf("unknown workflow: %d", status)
		}
	})
}
