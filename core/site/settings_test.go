package site_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/site"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		now, org := noon, core.NewID()
		s := site.Settings{Store: db.Site(), Clock: func() time.Time { return now }}
		if _, err := s.Rotate(t.Context(), org); !core.IsNotFound(err) {
			t.Errorf("rotate without a key: %v", err)
		}
		first, err := s.Create(t.Context(), org)
		if err != nil || !regexp.MustCompile(`^pk_live_[a-z0-9]{32}$`).MatchString(first.Value) {
			t.Fatalf("%q %v", first.Value, err)
		}
		if _, err := s.Create(t.Context(), org); core.AsError(err).Code != core.CodeConflict {
			t.Errorf("a second key: %v", err)
		}
		for range 5 {
			now = now.Add(time.Hour)
			if _, err := s.Rotate(t.Context(), org); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Rotate(t.Context(), org); core.AsError(err).Code != core.CodeConflict {
			t.Errorf("a sixth rotation: %v", err)
		}
		state, err := s.Of(t.Context(), org)
		if err != nil || len(state.Keys) != 6 || state.Off || state.Keys[0].ExpiresAt != nil || state.Keys[5].Value != first.Value || !state.Keys[5].ExpiresAt.Equal(noon.Add(25*time.Hour)) {
			t.Errorf("%+v %v", state, err)
		}
		now = noon.Add(25 * time.Hour) // the end of the first key's grace period
		rotated, err := s.Rotate(t.Context(), org)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.TurnOff(t.Context(), org); err != nil {
			t.Fatal(err)
		}
		state, err = s.Of(t.Context(), org)
		if err != nil || len(state.Keys) != 6 || !state.Off || state.Keys[0].Value != rotated.Value {
			t.Errorf("%+v %v", state, err)
		}
		all, err := db.Site().AllSiteKeys(t.Context(), now)
		if err != nil || len(all) != 6 || !all[0].Off {
			t.Errorf("%+v %v", all, err)
		}
	})
}

func TestHealth(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, day := core.NewID(), noon.Truncate(24*time.Hour)
		s := site.Settings{Store: db.Site(), Clock: func() time.Time { return noon }}
		add := func(days int, name string, n int64) {
			t.Helper()
			counts := []site.DayCount{
				{OrgID: org, Day: day.AddDate(0, 0, days), Count: site.Count{Outcome: site.BadName, Name: name, Beacons: n, LastAt: noon.AddDate(0, 0, days)}},
				{OrgID: core.NewID(), Day: day, Count: site.Count{Outcome: site.BadName, Name: name, Beacons: 100, LastAt: noon}},
			}
			if err := db.Site().AddSiteCounts(t.Context(), counts); err != nil {
				t.Fatal(err)
			}
		}
		add(0, "a", 1)
		add(0, "a", 2)
		add(-6, "a", 4)
		add(-7, "a", 8) // too old
		add(-1, "b", 16)
		got, err := s.Health(t.Context(), org)
		if err != nil || len(got) != 2 || got[0].Name != "b" || got[0].Beacons != 16 || got[1].Beacons != 7 || !got[1].LastAt.Equal(noon) {
			t.Errorf("%+v %v", got, err)
		}
		if err := db.Site().PurgeSiteCounts(t.Context(), day); err != nil {
			t.Fatal(err)
		}
		if got, err = s.Health(t.Context(), org); err != nil || len(got) != 1 || got[0].Beacons != 3 {
			t.Errorf("%+v %v", got, err)
		}
	})
}
