package storage_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/storage"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// ownedJourney has the objects of an organization that belong to one workflow.
type ownedJourney struct {
	workflow workflows.Workflow
	version  workflows.Version
	// held waits for a person, due is due, and waiting waits for a change of its contact.
	held, due, waiting workflows.Run
	mail               workflows.Mail
}

// ownWorkflow gives the organization an active workflow with a draft, three runs with timelines,
// an entry, a note that a contact has changed, a message with an outcome that no run has seen,
// and a frequency cap.
func (o *ownedObjects) ownWorkflow(t *testing.T, db *storage.DB) {
	t.Helper()
	ctx, store, timers := t.Context(), workflowstore.New(db.DB), workflowstore.NewTimerStore(db.DB)
	entries, mails := workflowstore.NewEntryStore(db.DB), workflowstore.NewMailStore(db.DB)
	j := &o.journey
	j.workflow = workflows.Workflow{
		ID: core.NewID(), Key: "same", Name: "Same", Status: workflows.Active, CurrentVersion: 1, DraftVersion: 2, WaitsForChange: true,
		Trigger: workflows.Trigger{Kind: workflows.OnActivity, Source: "same", Key: "same"}, Origin: workflows.Managed,
		CreatedAt: start, UpdatedAt: start, ActivatedAt: &start,
	}
	must(t, store.Insert(ctx, o.org, j.workflow))
	j.version = workflows.Version{Number: 2, Source: "same", ContentHash: workflows.HashOf("same"), CreatedAt: start}
	must(t, store.SaveVersion(ctx, o.org, j.workflow.ID, j.version))
	must(t, store.SetCap(ctx, o.org, &language.Cap{Messages: 1, Per: language.Duration{Amount: 1, Unit: predicate.Day}}))
	run := func(contactID string, change func(*engine.State)) workflows.Run {
		r := workflows.Run{ID: core.NewID(), WorkflowID: j.workflow.ID, Version: 1, ContactID: contactID, State: engine.Begin(start), Cause: workflows.ActivityTriggered, StartedAt: start}
		n, err := entries.Enroll(ctx, o.org, j.workflow.ID, []workflows.Run{r}, false)
		must(t, err)
		change(&r.State)
		event := workflows.Event{RunID: r.ID, Version: 1, Event: engine.Event{Path: "0", Type: engine.StepEntered, At: start}}
		must(t, timers.Move(ctx, o.org, j.workflow.ID, []workflows.Run{r}, []workflows.Event{event}))
		if n != 1 {
			t.Fatalf("%d runs began", n)
		}
		return r
	}
	j.held = run(o.contact.ID, func(s *engine.State) { s.Node, s.Phase, s.WakeAt = "0", engine.Held, time.Time{} })
	j.due = run(core.NewID(), func(s *engine.State) { s.Node = "0" })
	j.waiting = run(o.shell.ID, func(s *engine.State) {
		s.Node, s.Phase, s.WakeAt, s.Until, s.OnChange = "0", engine.Waiting, later(99), later(99), true
	})
	must(t, entries.Note(ctx, o.org, workflows.OnActivity, "same", []workflows.Entry{{ContactID: o.contact.ID, Cause: workflows.ActivityTriggered, OccurredAt: start}}))
	must(t, workflowstore.NewChangeStore(db.DB).Touch(ctx, o.org, []string{o.shell.ID}))
	j.mail = workflows.Mail{
		Key: core.NewID(), RunID: j.due.ID, ContactID: o.contact.ID, Email: o.contact.Email,
		Send: workflows.Send{ID: workflows.SendID(j.workflow.ID, 1, "0"), WorkflowID: j.workflow.ID, Version: 1, Path: "0", Template: "same"},
	}
	must(t, mails.AddMails(ctx, o.org, []workflows.Mail{j.mail}, start))
	must(t, db.Handover().Filter(ctx, o.org, j.mail.Send.ID, []handover.Recipient{{Key: j.mail.Key, CreatedAt: start, Tier: handover.ByAccount}}, start))
}

// workflowState returns what the organization reads of its workflow.
func (o ownedObjects) workflowState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	calls := map[string]storeCall{}
	for _, some := range []map[string]storeCall{workflowCalls(o, o.org), runCalls(o, o.org), timerCalls(o, o.org), mailCalls(o, o.org)} {
		maps.Copy(calls, some)
	}
	var seen []any
	for _, method := range []string{
		"Workflow", "Version", "workflows.Store.Versions", "Cap", "Runs", "Timeline", "Held", "Due", "AllLive", "workflows.EntryStore.Entries", "Mailed",
		"workflows.MailStore.Send", "workflows.MailStore.Recipients", "workflows.RunStore.Sends",
	} {
		found, err := calls[method](t, db)
		must(t, err)
		if isNothing(found) {
			t.Fatalf("the owner finds nothing by %s", method)
		}
		seen = append(seen, found)
	}
	touched, err := workflowstore.NewChangeStore(db.DB).Touched(t.Context(), 100)
	must(t, err)
	return append(seen, slices.Contains(touched, o.org))
}

// workflowCalls returns calls about workflows and their versions. The organization org makes
// them with the objects of another organization, o.
func workflowCalls(o ownedObjects, org string) map[string]storeCall {
	stolen, version := o.journey.workflow, o.journey.version
	stolen.Name, version.Source = "stolen", "stolen"
	on := func(db *storage.DB) workflows.Store { return workflowstore.New(db.DB) }
	return map[string]storeCall{
		"workflows.Store.Update": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, on(db).Update(t.Context(), org, stolen)
		},
		"Workflow": func(t *testing.T, db *storage.DB) (any, error) { return on(db).Workflow(t.Context(), org, stolen.ID) },
		"Workflow by key": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Workflow(t.Context(), org, stolen.Key)
		},
		"Workflows": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Workflows(t.Context(), org, workflows.Filter{Limit: 10})
		},
		"workflows.Store.Count": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Count(t.Context(), org, workflows.Filter{Limit: 10})
		},
		// The call saves a version of its own organization with the owner's ids.
		"SaveVersion": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, on(db).SaveVersion(t.Context(), org, stolen.ID, version)
		},
		"Version": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Version(t.Context(), org, stolen.ID, version.Number)
		},
		"workflows.Store.Versions": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Versions(t.Context(), org, stolen.ID)
		},
		"Cap": func(t *testing.T, db *storage.DB) (any, error) {
			limit, err := on(db).Cap(t.Context(), org)
			if limit == nil {
				return nil, err
			}
			return *limit, err
		},
		"workflows.Store.SetCap": func(t *testing.T, db *storage.DB) (any, error) { return nil, on(db).SetCap(t.Context(), org, nil) },
	}
}

// runCalls returns calls that read runs, and that decide about held messages.
func runCalls(o ownedObjects, org string) map[string]storeCall {
	id, run := o.journey.workflow.ID, o.journey.held
	on := func(db *storage.DB) workflowstore.RunStore { return workflowstore.NewRunStore(db.DB) }
	return map[string]storeCall{
		"workflows.RunStore.Counts": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Counts(t.Context(), org, []string{id})
		},
		"Runs": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Runs(t.Context(), org, workflows.RunFilter{WorkflowID: id, Limit: 10})
		},
		"Run":                      func(t *testing.T, db *storage.DB) (any, error) { return on(db).Run(t.Context(), org, id, run.ID) },
		"Timeline":                 func(t *testing.T, db *storage.DB) (any, error) { return on(db).Timeline(t.Context(), org, run) },
		"Exits":                    func(t *testing.T, db *storage.DB) (any, error) { return on(db).Exits(t.Context(), org, id, 0) },
		"Nodes":                    func(t *testing.T, db *storage.DB) (any, error) { return on(db).Nodes(t.Context(), org, id, 1) },
		"workflows.RunStore.Sends": func(t *testing.T, db *storage.DB) (any, error) { return on(db).Sends(t.Context(), org, id, 1) },
		"At":                       func(t *testing.T, db *storage.DB) (any, error) { return on(db).At(t.Context(), org, id, 1) },
		"Started": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Started(t.Context(), org, id, start.Add(-time.Hour))
		},
		"ContactNames": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).ContactNames(t.Context(), org, []string{o.contact.ID})
		},
		"Held": func(t *testing.T, db *storage.DB) (any, error) { return on(db).Held(t.Context(), org, "", "", 10) },
		"Held of a workflow": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Held(t.Context(), org, id, "", 10)
		},
		"CountHeld": func(t *testing.T, db *storage.DB) (any, error) { return on(db).CountHeld(t.Context(), org) },
		"HeldSince": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).HeldSince(t.Context(), org, []workflows.Run{run})
		},
		"workflows.HoldStore.Decide": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Decide(t.Context(), org, id, []string{run.ID}, engine.Cancelled, later(1))
		},
	}
}

// timerCalls returns calls that move runs, let contacts enter and wake runs.
func timerCalls(o ownedObjects, org string) map[string]storeCall {
	id, moved := o.journey.workflow.ID, o.journey.due
	moved.State.Status, moved.ExitName = engine.Failed, "stolen"
	timers := func(db *storage.DB) workflows.TimerStore { return workflowstore.NewTimerStore(db.DB) }
	entries := func(db *storage.DB) workflows.EntryStore { return workflowstore.NewEntryStore(db.DB) }
	changes := func(db *storage.DB) workflows.ChangeStore { return workflowstore.NewChangeStore(db.DB) }
	entry := workflows.Entry{ContactID: o.contact.ID, Cause: workflows.ActivityTriggered, OccurredAt: later(1)}
	return map[string]storeCall{
		"Due": func(t *testing.T, db *storage.DB) (any, error) {
			return timers(db).Due(t.Context(), org, id, later(9), 10)
		},
		"Move": func(t *testing.T, db *storage.DB) (any, error) {
			event := workflows.Event{RunID: moved.ID, Version: 1, Event: engine.Event{Type: engine.RunFailed, At: later(1)}}
			return nil, timers(db).Move(t.Context(), org, id, []workflows.Run{moved}, []workflows.Event{event})
		},
		"EndRunsOf": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, timers(db).EndRunsOf(t.Context(), org, o.contact.ID, later(1))
		},
		"EndRuns": func(t *testing.T, db *storage.DB) (any, error) {
			return timers(db).EndRuns(t.Context(), org, id, later(1), 10)
		},
		"AllLive": func(t *testing.T, db *storage.DB) (any, error) { return timers(db).AllLive(t.Context(), org) },
		"workflows.EntryStore.Note": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, entries(db).Note(t.Context(), org, workflows.OnActivity, "same", []workflows.Entry{entry})
		},
		"NoteRecipients": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, entries(db).NoteRecipients(t.Context(), org, "click", []workflows.Entry{{ContactID: core.EmailKey(o.contact.Email), OccurredAt: later(1)}})
		},
		"workflows.EntryStore.Entries": func(t *testing.T, db *storage.DB) (any, error) {
			return entries(db).Entries(t.Context(), org, id, 10)
		},
		"workflows.EntryStore.Forget": func(t *testing.T, db *storage.DB) (any, error) {
			all, err := entries(db).Entries(t.Context(), o.org, id, 10)
			must(t, err)
			return nil, entries(db).Forget(t.Context(), org, id, []string{all[0].ID})
		},
		"Past": func(t *testing.T, db *storage.DB) (any, error) {
			return entries(db).Past(t.Context(), org, id, []string{o.contact.ID})
		},
		// The owner has a run of the contact. It must not keep the contact of another
		// organization from entering.
		"Enroll": func(t *testing.T, db *storage.DB) (any, error) {
			own := moved
			own.ContactID, own.State = o.contact.ID, engine.Begin(start)
			n, err := entries(db).Enroll(t.Context(), org, id, []workflows.Run{own}, true)
			return n != 1, err
		},
		"Candidates": func(t *testing.T, db *storage.DB) (any, error) {
			trigger := workflows.Trigger{Kind: workflows.OnSegment, Source: o.segment.ID}
			return entries(db).Candidates(t.Context(), org, trigger, time.Time{}, later(1_000_000_000), "", 10)
		},
		"Candidates of an activity": func(t *testing.T, db *storage.DB) (any, error) {
			trigger := workflows.Trigger{Kind: workflows.OnActivity, Source: o.activity.Name}
			return entries(db).Candidates(t.Context(), org, trigger, time.Time{}, later(1_000_000_000), "", 10)
		},
		"Candidates of an event": func(t *testing.T, db *storage.DB) (any, error) {
			trigger := workflows.Trigger{Kind: workflows.OnEvent, Source: "delivery"}
			return entries(db).Candidates(t.Context(), org, trigger, time.Time{}, later(1_000_000_000), "", 10)
		},
		"workflows.ChangeStore.Touch": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, changes(db).Touch(t.Context(), org, []string{o.contact.ID})
		},
		"workflows.ChangeStore.TouchRecipients": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, changes(db).TouchRecipients(t.Context(), org, []string{core.EmailKey(o.contact.Email)})
		},
		"Wake": func(t *testing.T, db *storage.DB) (any, error) {
			return changes(db).Wake(t.Context(), org, later(1), 10)
		},
	}
}

// mailCalls returns calls about the messages of runs.
func mailCalls(o ownedObjects, org string) map[string]storeCall {
	mail := o.journey.mail
	on := func(db *storage.DB) workflows.MailStore { return workflowstore.NewMailStore(db.DB) }
	return map[string]storeCall{
		// The call adds a message of its own organization with the owner's ids.
		"AddMails": func(t *testing.T, db *storage.DB) (any, error) {
			own := mail
			own.Email, own.Send.Template = "stolen@x", "stolen"
			return nil, on(db).AddMails(t.Context(), org, []workflows.Mail{own}, later(1))
		},
		"Mailed": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Mailed(t.Context(), org, []string{o.contact.ID}, start.Add(-time.Hour))
		},
		"workflows.MailStore.Send": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Send(t.Context(), org, mail.Send.ID)
		},
		"workflows.MailStore.Recipients": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Recipients(t.Context(), org, mail.Send, []string{mail.Key})
		},
		"Settle": func(t *testing.T, db *storage.DB) (any, error) {
			return on(db).Settle(t.Context(), org, mail.Send.ID, later(1), 10)
		},
		"workflows.MailStore.Correct": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, on(db).Correct(t.Context(), org, []workflows.MailRef{{SendID: mail.Send.ID, Key: mail.Key}})
		},
	}
}
