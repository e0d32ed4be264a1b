package workflows_test

import (
	"context"
	"flag"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/workflows"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

var update = flag.Bool("update", false, "write the golden files again")

// hostile is text as an attacker would write it: HTML, and a character that reverses the
// order of the text after it.
const hostile = "<script>alert(1)</script>\u202egro.elpmaxe"

// welcome is a workflow with most kinds of steps. Its names are hostile.
const welcome = `workflow "Welcome ` + hostile + `" v1 {
  enter on segment "new <b>"
  exit "bought <i>" when attr.plan = "pro"

  send "hello" via topic "news"
  wait up to 3 days until attr.plan = "<u>" {
    timeout:
      send "tips" via topic "news"
  }
  if attr.plan = "free" {
    split {
      50%: {
        wait 1 day
      }
      50%: {
      }
    }
  }
  send "offer" via topic "news"
}
`

// office is an organization with workflows on a database, and prepared results of the
// operations. It fulfils the ports of core/workflows that have no store.
type office struct {
	*frametest.Office
	db        *storage.DB
	workflows *workflows.Workflows
	pages     http.Handler
	estimated int // calls of Estimate
	runs      *countingRuns
}

// countingRuns counts the timelines that pages read.
type countingRuns struct {
	workflows.RunStore
	timelines int
}

func (c *countingRuns) Timeline(ctx context.Context, orgID string, run workflows.Run) ([]workflows.Event, error) {
	c.timelines++
	return c.RunStore.Timeline(ctx, orgID, run)
}

func (o *office) WorkflowSchema(context.Context, string) (language.Schema, error) {
	return language.Schema{
		Schema: predicate.Schema{
			Attributes: map[string]predicate.AttributeType{"plan": {Type: predicate.String}}, Topics: map[string]bool{"news": true},
			Segments: map[string]string{"new <b>": core.NewID()}, Lists: map[string]string{"vip": core.NewID()},
		},
		Templates: map[string]bool{"hello": true, "tips": true, "offer": true},
	}, nil
}

func (o *office) DryRun(_ context.Context, _ string, _ *language.Checked, _, contactID string, _ time.Time) ([]workflows.DryStep, error) {
	if contactID != ada {
		return nil, core.NotFound("contact")
	}
	return []workflows.DryStep{
		{NodePath: "0", NodeType: "send", Action: workflows.WouldSend, Detail: "hello " + hostile},
		{NodePath: "1", NodeType: "wait_for", Action: workflows.Waited, Detail: "3 days"},
		{NodePath: "1.timeout.0", NodeType: "send", Action: workflows.WouldSkip, Detail: "opted out"},
		{NodePath: "2", NodeType: "if", Action: workflows.MatchedBranch, Detail: "else"},
		{NodePath: "3", NodeType: "send", Action: workflows.WouldSend, Detail: "offer"},
	}, nil
}

func (o *office) Estimate(_ context.Context, _ string, _ *language.Checked, _ string, days int, now time.Time) (workflows.Estimate, error) {
	o.estimated++
	e := workflows.Estimate{
		EnterNow: 1234, PerDay: 2.5, Contacts: 50_000, Sampled: true, Sends: []workflows.SendEstimate{{Path: "0", Template: "hello", PerDay: 2.25}},
		Exits: []workflows.ExitEstimate{{Name: "bought " + hostile, Count: 7}},
	}
	// The period begins and ends within a day, so that it touches one more.
	for i := range days + 1 {
		e.Days = append(e.Days, workflows.DayEstimate{Day: frame.DayStart(now).AddDate(0, 0, i-days), Enrolled: i % 4, Sends: i % 3})
	}
	return e, nil
}

// ada is the id of a contact whom the operations find.
const ada = "0196f0a0-0000-7000-8000-000000000001"

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{db: db, runs: &countingRuns{RunStore: workflowstore.NewRunStore(db.DB)}, Office: frametest.NewOffice(
		t, frametest.DatabaseOf(db), frame.Area{Path: pages.Path, Name: "Workflows", Needs: members.MayViewCampaigns},
		frame.Area{Path: "/dashboard/contacts", Name: "Contacts", Needs: members.MayViewContacts}, frame.Area{Path: "/dashboard/templates", Name: "Templates", Needs: members.MayViewContent},
	)}
	o.Frame.Operations = &frametest.Operations{T: t, Results: map[string]string{"contacts_lookup": `{"id":"0196f0a0-0000-7000-8000-000000000001","email":"ada@example.com","external_id":null,"status":"active","attributes":{},
		"topic_preferences":[{"topic":"offers","subscription_status":"OPT_IN"}],"unsubscribe_all":false,"mailable":true,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`}}
	o.workflows = workflows.New(workflows.Config{
		Store: workflowstore.New(db.DB), Runs: o.runs, Holds: workflowstore.NewRunStore(db.DB), Timers: workflowstore.NewTimerStore(db.DB), Entries: workflowstore.NewEntryStore(db.DB), Transactor: db,
		Schemas: o, DryRuns: o, Estimates: o, Clock: frametest.Now, Log: slog.New(slog.DiscardHandler),
	})
	room, err := pages.New(o.Frame, pages.Config{
		Editor: o.workflows.Editor, Actors: actors.Actors{Members: db.Members(), Users: db.Users(), Keys: db.Keys(), Clients: db.Clients()},
	})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

// save stores a source as the draft of the workflow with a key.
func (o *office) save(key, source string) workflows.Workflow {
	o.T.Helper()
	saved, err := o.workflows.Save(o.T.Context(), o.Org.ID, workflows.Definition{Key: key, Source: source, Author: workflows.Author{Kind: string(core.Person), ID: o.User.ID, UserID: o.User.ID}})
	o.Must(err)
	return saved.Workflow
}

// active stores an active workflow.
func (o *office) active(key, source string) workflows.Workflow {
	o.T.Helper()
	w, err := o.workflows.Activate(o.T.Context(), o.Org.ID, o.save(key, source).ID, workflows.Activation{RequireApproval: true})
	o.Must(err)
	return w
}

// enroll stores a run of a new contact, which began some hours ago.
func (o *office) enroll(w workflows.Workflow, email string, hours int, move func(*workflows.Run) []engine.Event) workflows.Run {
	o.T.Helper()
	at := frametest.Now().Add(-time.Duration(hours) * time.Hour)
	c := contacts.Contact{ID: core.NewID(), Email: email, Status: contacts.Active, CreatedAt: at, UpdatedAt: at}
	o.Must(o.db.Contacts().InsertContact(o.T.Context(), o.Org.ID, c))
	run := workflows.Run{
		ID: core.NewID(), WorkflowID: w.ID, Version: w.CurrentVersion, ContactID: c.ID, State: engine.Begin(at), Cause: workflows.SegmentEntered, SourceKey: "new <b>", StartedAt: at,
	}
	_, err := workflowstore.NewEntryStore(o.db.DB).Enroll(o.T.Context(), o.Org.ID, w.ID, []workflows.Run{run}, true)
	o.Must(err)
	var events []workflows.Event
	for _, e := range move(&run) {
		e.At = at.Add(time.Minute)
		events = append(events, workflows.Event{RunID: run.ID, Version: run.Version, Event: e})
	}
	o.Must(workflowstore.NewTimerStore(o.db.DB).Move(o.T.Context(), o.Org.ID, w.ID, []workflows.Run{run}, events))
	return run
}

// held lets the message of a run wait for a person.
func held(run *workflows.Run) []engine.Event {
	run.State = engine.State{Status: engine.Active, Node: "0", Phase: engine.Held}
	return []engine.Event{{Type: engine.StepEntered, Path: "0"}, {Type: engine.SendHeld, Path: "0"}}
}

// waiting lets a run wait in its second step.
func waiting(run *workflows.Run) []engine.Event {
	until := frametest.Now().Add(30 * time.Hour)
	run.State = engine.State{Status: engine.Active, Node: "1", Phase: engine.Waiting, Until: until, WakeAt: until, OnChange: true}
	return []engine.Event{
		{Type: engine.StepEntered, Path: "0"},
		{Type: engine.SendFiltered, Path: "0", Tier: engine.ByTopic, Reason: engine.OptedOut},
		{Type: engine.StepEntered, Path: "1"},
		{Type: engine.WaitStarted, Path: "1", Detail: "until " + until.Format(time.RFC3339)},
	}
}

// left lets a run end by a named exit.
func left(run *workflows.Run) []engine.Event {
	end := run.StartedAt.Add(time.Hour)
	run.State, run.CompletedAt = engine.State{Status: engine.Exited, Node: "2.then.0", Phase: engine.Entering}, &end
	run.ExitKind, run.ExitName = engine.ByName, "bought "+hostile
	return []engine.Event{
		{Type: engine.StepEntered, Path: "0"},
		{Type: engine.StepEntered, Path: "1"},
		{Type: engine.WaitTimedOut, Path: "1"},
		{Type: engine.StepEntered, Path: "1.timeout.0"},
		{Type: engine.SendSkipped, Path: "1.timeout.0"},
		{Type: engine.StepEntered, Path: "2", Detail: "then"},
		{Type: engine.StepEntered, Path: "2.then.0", Arm: "arm1"},
		{Type: engine.RunExited, Path: "2.then.0", Kind: engine.ByName, Exit: "bought " + hostile},
	}
}

// failed lets a run fail.
func failed(run *workflows.Run) []engine.Event {
	end := run.StartedAt.Add(time.Hour)
	run.State, run.CompletedAt, run.Faults = engine.State{Status: engine.Failed, Node: "0", Phase: engine.Sending}, &end, 5
	return []engine.Event{{Type: engine.StepEntered, Path: "0"}, {Type: engine.SendFailed, Path: "0", Detail: "refused " + hostile}, {Type: engine.RunFailed, Path: "0", Detail: hostile}}
}

// path returns the path of a page of a workflow.
func path(w workflows.Workflow, page string) string { return pages.Path + "/" + w.ID + page }
