package server

import (
	"errors"
	"strconv"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// The workflow with the key journey, its contact and its run. It is paused, so no process works
// on it beside the calls.
const (
	journeyID      = "01900000-0000-7000-8000-000000000005"
	journeyContact = "01900000-0000-7000-8000-000000000006"
	journeyRun     = "01900000-0000-7000-8000-000000000007"
)

// journeyOfFaults is the source of the workflows of the tests. No contact enters it.
const journeyOfFaults = "workflow \"Journey\" v1 {\n  enter on activity.never\n  wait 1 day\n}\n"

// quotedJourney is the source as JSON.
var quotedJourney = strconv.Quote(journeyOfFaults)

// callsOfWorkflows are the entries of [listed] about workflows.
var callsOfWorkflows = []call{
	{"workflows_timeline", "GET", "/v1/workflows/journey/runs/" + journeyRun + "/timeline", "", untouched},
	{"workflows_dry_run", "POST", "/v1/workflows/journey/dry-run", `{"contact_id":"` + journeyContact + `"}`, untouched},
	{"workflows_dry_run", "", "", `{"workflow":"journey","contact_id":"` + journeyContact + `"}`, untouched},
	{"workflows_estimate_enrollment", "", "", `{"workflow":"journey"}`, untouched},
	{"workflows_author", "", "", `{"key":"authored-ROUND","source":` + quotedJourney + `}`, untouched},
	{"workflows_activate", "", "", `{"workflow":"activated-ROUND"}`, untouched},
}

// insertJourney stores the workflow journey with a contact and its run.
func (s *faultScene) insertJourney(t *testing.T) {
	t.Helper()
	now, org, db := s.p.Clock.Now(), s.p.OrgID, s.p.DB
	store := workflowstore.New(db.DB)
	w := workflows.Workflow{
		ID: journeyID, Key: "journey", Name: "Journey", Status: workflows.Paused, CurrentVersion: 1, Origin: workflows.Managed,
		Trigger: workflows.Trigger{Kind: workflows.OnActivity, Source: "never", Key: "never"}, CreatedAt: now, UpdatedAt: now, ActivatedAt: &now,
	}
	run := workflows.Run{ID: journeyRun, WorkflowID: journeyID, Version: 1, ContactID: journeyContact, State: engine.Begin(now), Cause: workflows.ActivityTriggered, StartedAt: now}
	contact := contacts.Contact{ID: journeyContact, Email: "journey@example.com", Status: contacts.Active, CreatedAt: now, UpdatedAt: now}
	version := workflows.Version{Number: 1, Source: journeyOfFaults, ContentHash: workflows.HashOf(journeyOfFaults), CreatedAt: now, ActivatedAt: &now}
	err := errors.Join(
		db.Contacts().InsertContact(t.Context(), org, contact), store.Insert(t.Context(), org, w), store.SaveVersion(t.Context(), org, journeyID, version),
	)
	if err == nil {
		_, err = workflowstore.NewEntryStore(db.DB).Enroll(t.Context(), org, journeyID, []workflows.Run{run}, false)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// makeWorkflows creates the draft that the calls of the test round s.round activate.
func (s *faultScene) makeWorkflows(t *testing.T) {
	t.Helper()
	now, store := s.p.Clock.Now(), workflowstore.New(s.p.DB.DB)
	w := workflows.Workflow{
		ID: core.NewID(), Key: "activated-" + s.round, Name: "Journey", Status: workflows.Draft, DraftVersion: 1, Origin: workflows.Managed, CreatedAt: now, UpdatedAt: now,
	}
	version := workflows.Version{Number: 1, Source: journeyOfFaults, ContentHash: workflows.HashOf(journeyOfFaults), CreatedAt: now}
	if err := errors.Join(store.Insert(t.Context(), s.p.OrgID, w), store.SaveVersion(t.Context(), s.p.OrgID, w.ID, version)); err != nil {
		t.Fatal(err)
	}
}
