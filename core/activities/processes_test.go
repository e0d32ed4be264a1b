package activities_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestTwoProcesses records the same batches at the same time in two processes that share
// only the database. It checks that each activity is stored once.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	url := enginetest.PostgresURL(t)
	var processes []*bundle
	for range 2 {
		db, err := storage.Open(t.Context(), storage.Config{URL: url, MaxConns: 6})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if len(processes) == 0 {
			if err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		processes = append(processes, setup(t, db))
	}
	processes[1].org = processes[0].org
	const batches, people = 40, 8
	fresh := make([]map[string]int, 2)
	var wait sync.WaitGroup
	for at, b := range processes {
		fresh[at] = map[string]int{}
		wait.Go(func() {
			for batch := range batches {
				items := ""
				for i := range people {
					who := (i*(at*2+1) + batch) % people // each process has another order
					items += fmt.Sprintf(`,{"name":"key","email":"p%d@x.example","idempotency_key":"k%d-%d"},{"name":"once%d","email":"p%d@x.example","external_id":"u%d","dedup_mode":"once"}`,
						who, batch, who, batch, who, who)
				}
				for _, r := range b.recordAside(t, items[1:]) {
					if r.Status != "accepted" {
						t.Errorf("%+v", r)
					}
					if !r.Duplicate {
						fresh[at][r.ActivityID]++
					}
				}
			}
		})
	}
	wait.Wait()
	const want = batches * people * 2
	if n := len(fresh[0]) + len(fresh[1]); n != want {
		t.Errorf("%d activities were new, want %d", n, want)
	}
	written, err := processes[0].db.Activities().Activities(t.Context(), processes[0].org.ID, activities.Filter{Limit: want + 1})
	if err != nil || len(written) != want {
		t.Errorf("%d written, want %d, %v", len(written), want, err)
	}
	contacts := map[string]bool{}
	for _, a := range written {
		contacts[a.ContactID] = true
		if fresh[0][a.ID]+fresh[1][a.ID] != 1 {
			t.Errorf("%s was answered %d times as new", a.ID, fresh[0][a.ID]+fresh[1][a.ID])
		}
	}
	if len(contacts) != people {
		t.Errorf("%d contacts of %d people", len(contacts), people)
	}
}
