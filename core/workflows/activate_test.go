package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

func TestActivate(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		saved := w.save(t, "trial", trial)
		w.advance(time.Hour)
		activated, err := w.Activate(t.Context(), w.org, saved.Workflow.ID, workflows.Activation{ContentHash: saved.Version.ContentHash, RequireApproval: true})
		must(t, err)
		now := w.clock()
		if activated.Status != workflows.Active || activated.CurrentVersion != 1 || activated.DraftVersion != 0 || !activated.RequireApproval || w.woken != 1 {
			t.Errorf("activated: %+v, woken %d", activated, w.woken)
		}
		if activated.Backfill == nil || !activated.Backfill.At.Equal(now) || !activated.Backfill.Since.IsZero() || activated.Trigger.Kind != workflows.OnSegment || activated.Trigger.Key != "trials" {
			t.Errorf("a segment lets existing members enter: %+v", activated)
		}
		if diff := cmp.Diff(activated, w.stored(t, "trial")); diff != "" {
			t.Errorf("stored (-returned +stored):\n%s", diff)
		}
		_, err = w.Activate(t.Context(), w.org, activated.ID, workflows.Activation{})
		wantCode(t, "without a draft", err, core.CodeConflict)

		// A change of the steps lets no existing contact enter, and keeps the progress.
		next := w.save(t, "trial", strings.ReplaceAll(trial, "3 days", "4 days"))
		if next.Version.Number != 2 || next.Workflow.Status != workflows.Active || next.Workflow.CurrentVersion != 1 {
			t.Errorf("a draft beside the current version: %+v", next)
		}
		_, err = w.Activate(t.Context(), w.org, activated.ID, workflows.Activation{ContentHash: saved.Version.ContentHash})
		wantCode(t, "another draft than the caller has seen", err, core.CodeConflict)
		w.advance(time.Hour)
		second, err := w.Activate(t.Context(), w.org, activated.ID, workflows.Activation{})
		must(t, err)
		if second.CurrentVersion != 2 || second.RequireApproval || !second.Backfill.At.Equal(now) {
			t.Errorf("the second activation: %+v", second)
		}
		third := w.activate(t, "trial", source("Trial", "enter on activity.signed_up", `send "welcome"`))
		if third.Backfill != nil || third.Trigger != (workflows.Trigger{Kind: workflows.OnActivity, Source: "signed_up", Key: "signed_up"}) {
			t.Errorf("another trigger: %+v", third)
		}
		versions, err := workflowstore.New(w.db.DB).Versions(t.Context(), w.org, third.ID)
		must(t, err)
		if len(versions) != 3 || versions[0].ActivatedAt == nil || versions[2].ActivatedAt == nil {
			t.Errorf("versions: %+v", versions)
		}
	})
}

func TestWhoEntersAtActivation(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		must(t, w.db.Attributes().InsertAttribute(t.Context(), w.org, dateAttribute()))
		week := start.Add(-7 * 24 * time.Hour)
		for name, test := range map[string]struct {
			settings string
			backfill *workflows.Backfill
			swept    time.Time
		}{
			"segment":          {`enter on segment "trials"`, &workflows.Backfill{At: start}, time.Time{}},
			"segment-forward":  {"enter on segment \"trials\"\nenroll forward", nil, time.Time{}},
			"segment-since":    {"enter on segment \"trials\"\nenroll existing since 7 days", &workflows.Backfill{Since: week, At: start}, time.Time{}},
			"activity":         {"enter on activity.signed_up", nil, time.Time{}},
			"activity-since":   {"enter on activity.signed_up\nenroll existing since 7 days", &workflows.Backfill{Since: week, At: start}, time.Time{}},
			"event-existing":   {"enter on event click\nenroll existing", &workflows.Backfill{At: start}, time.Time{}},
			"date":             {"enter on 1 day before attr.renews_at", nil, start},
			"date-since-aweek": {"enter on 1 day before attr.renews_at\nenroll existing since 7 days", nil, week},
		} {
			w.activate(t, name, source(name, test.settings, `send "welcome"`))
			got := w.stored(t, name)
			if diff := cmp.Diff(test.backfill, got.Backfill); diff != "" || !got.SweptUntil.Equal(test.swept) {
				t.Errorf("%s: swept until %v, want %v; backfill (-want +got):\n%s", name, got.SweptUntil, test.swept, diff)
			}
		}
	})
}

func TestActivationRefusals(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for key, test := range map[string]struct {
			source, message string
		}{
			"broken":   {`workflow "Broken" v1 {`, "line 1"},
			"template": {source("Template", `enter on segment "trials"`, `send "wellcome"`), `did you mean welcome?`},
		} {
			saved := w.save(t, key, test.source)
			_, err := w.Activate(t.Context(), w.org, saved.Workflow.ID, workflows.Activation{})
			wantCode(t, key, err, core.CodeValidationFailed)
			if err != nil && !strings.Contains(core.AsError(err).Message, test.message) {
				t.Errorf("%s: %v, want %q", key, err, test.message)
			}
			if got := w.stored(t, key); got.Status != workflows.Draft || got.CurrentVersion != 0 {
				t.Errorf("%s after a refusal: %+v", key, got)
			}
		}
	})
}

func TestActivationPreview(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.estimate = workflows.Estimate{EnterNow: 40, PerDay: 3.4567, Sends: []workflows.SendEstimate{{Path: "0", Template: "welcome", PerDay: 2.04}}}
		saved := w.save(t, "trial", trial)
		preview, err := w.ActivationPreview(t.Context(), w.org, saved.Workflow.ID, workflows.Activation{RequireApproval: true})
		must(t, err)
		const want = `Activate version 1 of the workflow "Trial", which contacts enter on segment "trials". 40 existing contacts enter at once. ` +
			`By the last 28 days, 3.5 contacts enter a day. It sends the template "welcome" (2 steps). Each message waits until a person approves it.`
		if got := preview.Sentence(); got != want {
			t.Errorf("the sentence is\n%s\nwant\n%s", got, want)
		}
		news := "news"
		sends := []workflows.PlannedSend{{NodePath: "0", Template: "welcome", Topic: &news, PerDay: 2}, {NodePath: "2", Template: "welcome", Transactional: true}}
		if diff := cmp.Diff(sends, preview.Sends); diff != "" || !cmp.Equal(preview.Exits, []string{"paid"}) || len(preview.Warnings) != 1 {
			t.Errorf("exits %v, warnings %v, sends (-want +got):\n%s", preview.Exits, preview.Warnings, diff)
		}
		_, err = w.Activate(t.Context(), w.org, saved.Workflow.ID, workflows.Activation{})
		must(t, err)
		w.save(t, "trial", source("Trial", `enter on segment "trials"`, `add to list "none"`))
		_, err = w.ActivationPreview(t.Context(), w.org, saved.Workflow.ID, workflows.Activation{})
		wantCode(t, "a preview of a source with faults", err, core.CodeValidationFailed)
		w.save(t, "trial", source("Trial", `enter on segment "trials"`, `wait 1 day`))
		preview, err = w.ActivationPreview(t.Context(), w.org, saved.Workflow.ID, workflows.Activation{})
		must(t, err)
		if preview.WouldEnroll != 0 || preview.EntersExisting || !strings.Contains(preview.Sentence(), "It replaces version 1") || !strings.Contains(preview.Sentence(), "It sends no message.") {
			t.Errorf("a change of the steps: %+v\n%s", preview, preview.Sentence())
		}
	})
}

// TestSentenceNamesEachTemplateOnce checks the templates in the sentence and in the warnings.
func TestSentenceNamesEachTemplateOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.addTemplate(t, "tips")
		steps := []string{`enter on segment "trials"`}
		for _, template := range []string{"tips", "welcome", "tips", "tips"} {
			steps = append(steps, `send "`+template+`"`, `wait 1 day`)
		}
		saved := w.save(t, "trial", source("Trial", steps...))
		preview, err := w.ActivationPreview(t.Context(), w.org, saved.Workflow.ID, workflows.Activation{})
		must(t, err)
		if got := preview.Sentence(); !strings.Contains(got, ` It sends the templates "tips" (3 steps), "welcome". `) {
			t.Errorf("the sentence is\n%s", got)
		}
		if got := strings.Join(preview.Warnings, "\n"); !strings.Contains(got, `ends all mail: "tips", "welcome".`) {
			t.Errorf("the warnings are\n%s", got)
		}

		var many []workflows.PlannedSend
		for i := range 12 {
			many = append(many, workflows.PlannedSend{Template: string(rune('a' + i))})
		}
		if got := (workflows.ActivationPreview{Sends: append(many, many[1])}).Sentence(); !strings.Contains(got, ` "a", "b" (2 steps), "c",`) || !strings.Contains(got, ` "j" and 2 more. `) {
			t.Errorf("the sentence of many templates is\n%s", got)
		}
	})
}
