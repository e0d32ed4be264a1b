package accounts

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
)

// recordingQueue is a job queue that records the enqueued jobs and runs none of them.
// Each call returns err.
type recordingQueue struct {
	jobs []jobs.Args
	err  error
}

func (l *recordingQueue) Enqueue(_ context.Context, args jobs.Args) error {
	l.jobs = append(l.jobs, args)
	return l.err
}

// EnqueueOnce records a job unless it is already recorded.
func (l *recordingQueue) EnqueueOnce(ctx context.Context, args jobs.Args) (bool, error) {
	if slices.Contains(l.jobs, args) {
		return false, l.err
	}
	return true, l.Enqueue(ctx, args)
}

func TestSyncAccountOnceLeavesWhatIsMissing(t *testing.T) {
	t.Parallel()
	queue := &recordingQueue{jobs: []jobs.Args{syncs("org")[0]}}
	for _, want := range []bool{true, false} {
		if some, err := SyncAccountOnce(queue)(t.Context(), "org"); some != want || err != nil || len(queue.jobs) != len(syncs("org")) {
			t.Errorf("left some: %v, %v, now %v", some, err, queue.jobs)
		}
	}
	queue.err = errors.New("full")
	if _, err := SyncAccountOnce(queue)(t.Context(), "org"); !errors.Is(err, queue.err) {
		t.Errorf("a queue that takes nothing: %v", err)
	}
}

func TestSyncAccountLeavesAJobForEachMirror(t *testing.T) {
	t.Parallel()
	queue := &recordingQueue{}
	if err := SyncAccount(queue)(t.Context(), "org"); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, job := range queue.jobs {
		kinds = append(kinds, job.Kind())
	}
	slices.Sort(kinds)
	if want := []string{"channel_sync", "contact_list_sync", "segments_sweep", "template_deploy", "template_sync"}; !slices.Equal(kinds, want) {
		t.Errorf("left %v, want %v", kinds, want)
	}
	queue.err = errors.New("full")
	if err := SyncAccount(queue)(t.Context(), "org"); !errors.Is(err, queue.err) {
		t.Errorf("a queue that takes nothing: %v", err)
	}
}

// TestRereadForgetsTheOrganization runs each job of syncs, and one for all organizations.
func TestRereadForgetsTheOrganization(t *testing.T) {
	t.Parallel()
	for _, orgID := range []string{"org", ""} {
		for _, args := range syncs(orgID) {
			var calls []string
			w := Reread(func(orgID string) { calls = append(calls, "forget "+orgID) }, jobs.Worker[jobs.OrgArgs]{
				Work: func(context.Context, jobs.OrgArgs) error { calls = append(calls, "work"); return nil },
			})
			want := []string{"work"}
			if orgID != "" {
				want = []string{"forget " + orgID, "work"}
			}
			if err := w.Work(t.Context(), args); err != nil || !slices.Equal(calls, want) {
				t.Errorf("%s of %q: %v, %v", args.Kind(), orgID, calls, err)
			}
		}
	}
}

func TestKeepListKeepsWhatThereIs(t *testing.T) {
	t.Parallel()
	embedded := simulatortest.Open(t, simulator.Options{})
	own := sending.ContactList{Name: "people", Topics: []sending.Topic{{Name: "news", Default: sending.OptOut}}}
	if err := embedded.Seed(t.Context(), "old", simulator.Setup{List: &own}); err != nil {
		t.Fatal(err)
	}
	for org, name := range map[string]string{"old": "people", "new": "contacts"} {
		for range 2 {
			if err := KeepList(t.Context(), embedded, org); err != nil {
				t.Fatal(err)
			}
		}
		if list, err := embedded.ContactList(t.Context(), org); err != nil || list.Name != name {
			t.Errorf("%s has %+v, %v", org, list, err)
		}
	}
	embedded.Faults().Set(simulator.Fault{Kind: sending.Refused})
	if err := KeepList(t.Context(), embedded, "old"); err == nil {
		t.Error("a list that cannot be read is taken for none")
	}
}
