package runner_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/contacts"
)

func TestWaitsWakeAtTheirTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nwait up to 30 days until not exists(activity.visit within 3d)\nsend \"offer\"")
		ada := w.add(t, "ada", nil)
		w.act(t, ada, "visit", w.Now())
		w.act(t, ada, "signup", w.Now())
		w.settle(t)
		run := w.runs(t, id, ada)[0]
		if want := start.Add(3*day + time.Microsecond); !run.State.WakeAt.Equal(want) {
			t.Errorf("the run wakes at %v, want %v", run.State.WakeAt, want)
		}
		w.advance(t, 2*day)
		w.act(t, ada, "visit", w.Now())
		w.advance(t, 2*day) // a new visit has moved the time
		if got := w.mails("ada"); got != "" {
			t.Errorf("ada got %q", got)
		}
		w.advance(t, day+time.Second)
		if got := w.mails("ada"); got != "offer" {
			t.Errorf("ada got %q", got)
		}
	})
}

func TestWaitForADateThatMoves(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nwait until attr.renewal\nsend \"offer\"")
		ada := w.add(t, "ada", map[string]any{"renewal": start.Add(5 * day).Format(time.RFC3339)})
		w.act(t, ada, "signup", w.Now())
		w.settle(t)
		w.edit(t, ada, func(c *contacts.Contact) { c.Attributes["renewal"] = start.Add(2 * day).Format(time.RFC3339) })
		w.settle(t)
		w.advance(t, 2*day)
		w.tells(t, id, ada, "enrolled; 0 step_entered; 0 wait_started; 0 wait_met; 1 step_entered; 1 completed")
	})
}

func TestSendWindow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.launch(t, "enter on activity.signup\nsend window 9am-6pm in contact timezone\nsend \"welcome\"")
		for name, zone := range map[string]string{"paris": "Europe/Paris", "tokyo": "Asia/Tokyo", "unknown": "Nowhere"} {
			w.act(t, w.add(t, name, map[string]any{"timezone": zone}), "signup", w.Now())
		}
		w.settle(t) // it is 12:00 in UTC, 13:00 in Paris and 21:00 in Tokyo
		if w.mails("paris") != "welcome" || w.mails("unknown") != "welcome" || w.mails("tokyo") != "" {
			t.Errorf("paris got %q, unknown %q, tokyo %q", w.mails("paris"), w.mails("unknown"), w.mails("tokyo"))
		}
		w.advance(t, 12*time.Hour) // 9:00 in Tokyo
		if got := w.mails("tokyo"); got != "welcome" {
			t.Errorf("tokyo got %q", got)
		}
	})
}

func TestArchivedContactLeaves(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nwait 1 day\nsend \"welcome\"")
		ada := w.add(t, "ada", nil)
		w.act(t, ada, "signup", w.Now())
		w.settle(t)
		w.edit(t, ada, func(c *contacts.Contact) { c.Status = contacts.Archived })
		w.advance(t, day)
		w.tells(t, id, ada, "enrolled; 0 step_entered; 0 wait_started; 0 exited archived")
	})
}
