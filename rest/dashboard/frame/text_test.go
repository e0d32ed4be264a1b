package frame_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// TestNumbersInWords checks the formats of counts and rates.
func TestNumbersInWords(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		frame.Quantity(1, "row", "rows"):               "1 row",
		frame.Quantity(1200, "row", "rows"):            "1,200 rows",
		frame.Count(1200):                              "1,200",
		frame.Count(2.5):                               "2.5",
		frame.Percentage(0.05):                         "5.00\u00a0%",
		frame.ShortPercentage(0.001):                   "0.1\u00a0%",
		frame.ShortPercentage(2.0 / 3):                 "66.67\u00a0%",
		frame.Quoted("a\u202eb"):                       "“ab”",
		frame.Address("/x", nil):                       "/x",
		frame.Address("/x", frame.Parameters{"q": ""}): "/x",
		frame.Address("/x", frame.Parameters{"q": "a&b", "status": "sent"}): "/x?q=a%26b&status=sent",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDayRanges checks that the last day is part of a range, and the refusals of texts that
// are no days.
func TestDayRanges(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		first, last string
		from, to    time.Time
		problem     string
	}{
		"no limits":    {},
		"one day":      {first: "2026-03-11", last: "2026-03-11", from: day(11), to: day(12)},
		"until":        {last: "2026-03-11", to: day(12)},
		"no day":       {first: "11.3.2026", problem: "The first day must be a day such as 2026-03-12, not “11.3.2026”."},
		"no last day":  {first: "2026-03-11", last: "2026-02-30", problem: "The last day must be a day such as 2026-03-12, not “2026-02-30”."},
		"last year":    {last: "9999-12-31", problem: "The last day must be a day such as 2026-03-12, not “9999-12-31”."},
		"zero time":    {last: "0001-01-01", problem: "The last day must be a day such as 2026-03-12, not “0001-01-01”."},
		"out of order": {first: "2026-03-11", last: "2026-03-10", problem: "The last day is before the first day."},
	} {
		from, to, err := frame.DayRange(c.first, c.last)
		problem := frame.Labels{"from": "The first day", "to": "The last day"}.Problem(err)
		if problem != c.problem || problem == "" && (!from.Equal(c.from) || !to.Equal(c.to)) {
			t.Errorf("%s: %v, %v, %q", name, from, to, problem)
		}
	}
}

// TestSetArguments checks that filters that are not set are left out, and other zero values
// are not.
func TestSetArguments(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 12, 0, 0, 0, 0, time.UTC)
	got := frame.SetArguments(map[string]any{"name": "", "from": now, "to": time.Time{}, "limit": 0, "archived": false, "keys": []string(nil)})
	if diff := cmp.Diff(map[string]any{"from": now, "limit": 0, "archived": false, "keys": []string(nil)}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFilterProblems checks which refusals stand above a list, and in which words.
func TestFilterProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err     error
		problem string
		status  int
	}{
		"none":        {nil, "", 200},
		"named":       {core.Invalid("from", "is late").WithNext("Hurry."), "The first day is late. Hurry.", 422},
		"not named":   {core.Invalid("to", "is late"), "`to` is late.", 422},
		"of the plan": {&core.Error{Code: core.CodePlanRetentionExceeded, Message: "Too old.", Next: "Wait."}, "Too old. Wait.", 403},
		"a cursor":    {core.Invalid("cursor", "is not a cursor").WithNext("Send next_cursor."), "The address of this part of the list is damaged, or belongs to another filter. Open the list again.", 422},
		"another":     {core.NotFound("list"), "", 200},
	} {
		if problem, status := (frame.Labels{"from": "The first day"}).FilterProblem(c.err); problem != c.problem || status != c.status {
			t.Errorf("%s: %q, %d", name, problem, status)
		}
	}
}
