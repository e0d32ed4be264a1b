package engine_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine"
)

func TestTime(t *testing.T) {
	t.Parallel()
	berlin := time.FixedZone("", 7200)
	for _, instant := range []time.Time{
		{}, time.Unix(0, 0), time.Date(2026, 5, 20, 12, 0, 0, 123456000, berlin), time.Date(1901, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		got := engine.At(instant).Time()
		if !got.Equal(instant) || got.Location() != time.UTC {
			t.Errorf("%v comes back as %v", instant, got)
		}
	}
	var stored engine.Time
	if err := stored.Scan("2026-05-20"); err == nil {
		t.Error("text was taken for a time")
	}
}
