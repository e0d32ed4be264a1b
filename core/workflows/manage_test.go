package workflows_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// dateAttribute returns the attribute renews_at.
func dateAttribute() attributes.Attribute {
	return attributes.Attribute{ID: core.NewID(), Name: "renews_at", Type: attributes.Datetime, Origin: core.ManagedOrigin, CreatedAt: start, UpdatedAt: start}
}

func TestStatusesOfAWorkflow(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		id := w.save(t, "trial", trial).Workflow.ID
		changes := map[string]func() (workflows.Workflow, error){
			"pause":   func() (workflows.Workflow, error) { return w.Pause(t.Context(), w.org, id) },
			"resume":  func() (workflows.Workflow, error) { return w.Resume(t.Context(), w.org, id) },
			"archive": func() (workflows.Workflow, error) { return w.Archive(t.Context(), w.org, id) },
			"activate": func() (workflows.Workflow, error) {
				return w.Activate(t.Context(), w.org, id, workflows.Activation{RequireApproval: true})
			},
			"without approval": func() (workflows.Workflow, error) { return w.SetApproval(t.Context(), w.org, id, false) },
		}
		for _, step := range []struct {
			change string
			status workflows.Status // "" for a refusal
		}{
			{"pause", ""},
			{"resume", ""},
			{"activate", workflows.Active},
			{"resume", ""},
			{"pause", workflows.Paused},
			{"pause", ""},
			{"resume", workflows.Active},
			{"without approval", workflows.Active},
			{"archive", workflows.Archived},
			{"archive", ""},
			{"resume", ""},
			{"activate", ""},
			{"without approval", ""},
		} {
			changed, err := changes[step.change]()
			if step.status == "" {
				wantCode(t, step.change, err, core.CodeConflict)
				continue
			}
			must(t, err)
			if stored := w.stored(t, id); changed.Status != step.status || stored.Status != step.status {
				t.Errorf("%s: %s, stored %s, want %s", step.change, changed.Status, stored.Status, step.status)
			}
		}
		if got := w.stored(t, id); got.RequireApproval || !got.Closing || got.Backfill != nil {
			t.Errorf("archived: %+v", got)
		}
	})
}

func TestDecide(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		active := w.activate(t, "trial", trial)
		runs := w.enroll(t, active, engine.Held)
		held, err := w.Holds.Held(t.Context(), w.org, active.ID, "", 10)
		must(t, err)
		if len(held) != 2 {
			t.Fatalf("%d runs are held", len(held))
		}
		var events []workflows.Event
		for _, d := range []time.Duration{0, time.Hour} { // the last one counts
			events = append(events, workflows.Event{RunID: held[0].ID, Version: 1, Event: engine.Event{Path: "0", Type: engine.SendHeld, At: start.Add(d)}})
		}
		must(t, w.Timers.Move(t.Context(), w.org, active.ID, held[:1], events))
		since, err := w.Holds.HeldSince(t.Context(), w.org, append(held, workflows.Run{ID: core.NewID(), WorkflowID: core.NewID()}))
		must(t, err)
		if len(since) != 1 || !since[held[0].ID].Equal(start.Add(time.Hour)) {
			t.Errorf("the messages wait since %v", since)
		}
		decided, err := w.Decide(t.Context(), w.org, active.ID, append(runs[:1:1], core.NewID()), engine.Approved)
		must(t, err)
		if !cmp.Equal(decided, runs[:1]) {
			t.Errorf("decided about %v, want %v", decided, runs[:1])
		}
		all, err := w.Decide(t.Context(), w.org, active.ID, runs, engine.Cancelled)
		must(t, err)
		if !cmp.Equal(all, runs[1:]) {
			t.Errorf("decided again about %v, want %v", all, runs[1:])
		}
		for name, err := range map[string]error{
			"no decision": second(w.Decide(t.Context(), w.org, active.ID, runs, engine.Held)), "no runs": second(w.Decide(t.Context(), w.org, active.ID, nil, engine.Approved)),
			"too many runs": second(w.Decide(t.Context(), w.org, active.ID, slices.Repeat(runs, 300), engine.Approved)),
		} {
			wantCode(t, name, err, core.CodeValidationFailed)
		}
		wantCode(t, "unknown workflow", second(w.Decide(t.Context(), w.org, core.NewID(), runs, engine.Approved)), core.CodeNotFound)
	})
}

// second returns the second result of a function.
func second[T any](_ T, err error) error { return err }

func TestCap(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		limit := &language.Cap{Messages: 3, Per: language.Duration{Amount: 7, Unit: predicate.Day}}
		must(t, w.SetCap(t.Context(), w.org, limit))
		got, err := w.Cap(t.Context(), w.org)
		must(t, err)
		if diff := cmp.Diff(limit, got); diff != "" {
			t.Errorf("the limit (-want +got):\n%s", diff)
		}
		wantCode(t, "no message", w.SetCap(t.Context(), w.org, &language.Cap{Per: limit.Per}), core.CodeValidationFailed)
		wantCode(t, "no time", w.SetCap(t.Context(), w.org, &language.Cap{Messages: 1}), core.CodeValidationFailed)
		must(t, w.SetCap(t.Context(), w.org, nil))
		if got, err = w.Cap(t.Context(), w.org); err != nil || got != nil {
			t.Errorf("after removing the limit: %v, %v", got, err)
		}
	})
}

func TestRevalidate(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		active := w.activate(t, "trial", trial)
		paused := w.activate(t, "paused", source("Paused", `enter on segment "trials"`, `send "welcome"`))
		_, err := w.Pause(t.Context(), w.org, paused.ID)
		must(t, err)
		other := w.activate(t, "other", source("Other", "enter on activity.signed_up", `send "welcome"`))
		check := func(what string, want map[string]workflows.Status) {
			t.Helper()
			must(t, w.RevalidateWorker().Work(t.Context(), workflows.RevalidateArgs{OrgID: w.org}))
			for id, status := range want {
				if got := w.stored(t, id); got.Status != status || (got.InvalidReason != "") != (status == workflows.Invalid) {
					t.Errorf("%s: %s is %s, want %s: %s", what, got.Key, got.Status, status, got.InvalidReason)
				}
			}
		}
		same := map[string]workflows.Status{active.ID: workflows.Active, paused.ID: workflows.Paused, other.ID: workflows.Active}
		check("before", same)
		found, err := w.db.Segments().Segment(t.Context(), w.org, "trials")
		must(t, err)
		must(t, second(w.segments.SetStatus(t.Context(), w.org, found.ID, segments.Archived)))
		check("without the segment", map[string]workflows.Status{active.ID: workflows.Invalid, paused.ID: workflows.Invalid, other.ID: workflows.Active})
		wantCode(t, "resume", second(w.Resume(t.Context(), w.org, paused.ID)), core.CodeConflict)
		w.addSegment(t)
		check("with the segment again", same)
	})
}
