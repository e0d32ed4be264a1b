package core_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

func TestWindows(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	ago := func(days int) *time.Time { at := now.AddDate(0, 0, -days); return &at }
	for name, tc := range map[string]struct {
		from, to  *time.Time
		retention int
		want      core.Window
		code      core.Code
	}{
		"nothing given":          {nil, nil, 90, core.Window{From: *ago(30), To: now}, ""},
		"short retention":        {nil, nil, 7, core.Window{From: *ago(7), To: now}, ""},
		"both given":             {ago(20), ago(10), 90, core.Window{From: *ago(20), To: *ago(10)}, ""},
		"as far back as is kept": {ago(90), nil, 90, core.Window{From: *ago(90), To: now}, ""},
		"further back than kept": {ago(91), nil, 90, core.Window{}, core.CodePlanRetentionExceeded},
		"the wrong way round":    {ago(1), ago(2), 90, core.Window{}, core.CodeValidationFailed},
		"empty":                  {ago(1), ago(1), 90, core.Window{}, core.CodeValidationFailed},
		"an earlier to":          {nil, ago(40), 90, core.Window{From: *ago(70), To: *ago(40)}, ""},
		"a to in the future":     {nil, ago(-2), 90, core.Window{From: *ago(30), To: *ago(-2)}, ""},
		"an earlier to, cut off": {nil, ago(80), 90, core.Window{From: *ago(90), To: *ago(80)}, ""},
		"to before what is kept": {nil, ago(90), 90, core.Window{}, core.CodePlanRetentionExceeded},
		"future, the wrong way":  {ago(-3), ago(-2), 90, core.Window{}, core.CodeValidationFailed},
	} {
		got, err := core.WindowOf(tc.from, tc.to, now, tc.retention)
		if tc.code == "" && (err != nil || got != tc.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if tc.code != "" && (err == nil || core.AsError(err).Code != tc.code) {
			t.Errorf("%s: %v, want %s", name, err, tc.code)
		}
	}
	_, err := core.WindowOf(ago(91), nil, now, 90)
	if got := core.AsError(err).Extra["retention_days"]; got != 90 {
		t.Errorf("retention_days is %v", got)
	}
}

func TestLastDaysAreWholeButForToday(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 30, 0, 0, time.FixedZone("", 3600)) // in UTC it is still February
	want := core.Window{From: time.Date(2026, 2, 22, 0, 0, 0, 0, time.UTC), To: now}
	if got := core.LastDays(now, 7); !got.From.Equal(want.From) || !got.To.Equal(want.To) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestOldestDay checks that a window may begin with the oldest day, and not a day earlier.
func TestOldestDay(t *testing.T) {
	t.Parallel()
	for _, now := range []time.Time{
		time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC), time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 3, 31, 0, 30, 0, 0, time.FixedZone("", 3600)),
	} {
		day := core.OldestDay(now, 7)
		if _, err := core.WindowOf(&day, nil, now, 7); err != nil || day.Location() != time.UTC || !day.Equal(day.Truncate(24*time.Hour)) {
			t.Errorf("%v at %v: %v", day, now, err)
		}
		before := day.AddDate(0, 0, -1)
		if _, err := core.WindowOf(&before, nil, now, 7); err == nil {
			t.Errorf("the day before %v is kept at %v", day, now)
		}
	}
}
