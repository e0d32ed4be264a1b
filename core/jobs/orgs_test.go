package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core/jobs"
)

func TestOneOrganizationHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	broken, unlisted := errors.New("broken"), errors.New("nobody knows")
	all := func(context.Context) ([]string, error) { return []string{"a", "b", "c"}, nil }
	none := func(context.Context) ([]string, error) { return nil, unlisted }
	for name, tc := range map[string]struct {
		id      string
		list    func(context.Context) ([]string, error)
		visited []string
		err     error
		text    string
	}{
		"all":               {"", all, []string{"a", "b", "c"}, broken, "sync of organization b: broken"},
		"one":               {"c", none, []string{"c"}, nil, ""},
		"one that fails":    {"b", none, []string{"b"}, broken, "sync of organization b: broken"},
		"a list that fails": {"", none, nil, unlisted, "nobody knows"},
	} {
		var visited []string
		err := jobs.ForEachOrg(t.Context(), tc.id, tc.list, "sync", func(_ context.Context, org string) error {
			visited = append(visited, org)
			if org == "b" {
				return broken
			}
			return nil
		})
		slices.Sort(visited)
		if !slices.Equal(visited, tc.visited) || !errors.Is(err, tc.err) || err != nil && err.Error() != tc.text {
			t.Errorf("%s: visited %v, %v", name, visited, err)
		}
	}
}

// TestNoOrganizationIsAlwaysBehindASlowOne checks that the order of organizations differs
// between runs, so that a slow organization does not always use up the time of the same
// others. No organization is visited after ctx has ended.
func TestNoOrganizationIsAlwaysBehindASlowOne(t *testing.T) {
	t.Parallel()
	all := []string{"a", "b", "c", "slow", "x", "y", "z"}
	served := map[string]int{}
	const runs = 500
	for range runs {
		ctx, cancel := context.WithCancel(t.Context())
		visited := 0
		err := jobs.ForEachOrg(ctx, "", func(context.Context) ([]string, error) { return all, nil }, "sync", func(ctx context.Context, org string) error {
			if ctx.Err() != nil {
				t.Fatalf("%s is visited without time", org)
			}
			served[org]++
			if visited++; org == "slow" {
				cancel()
			}
			return nil
		})
		cancel()
		want := fmt.Sprintf("sync: organizations not visited: %d: context canceled", len(all)-visited)
		if unfinished := visited < len(all); unfinished != (err != nil) || unfinished && (err.Error() != want || !errors.Is(err, context.Canceled)) {
			t.Fatalf("after %d visits: %v", visited, err)
		}
	}
	for _, org := range all {
		if served[org] < runs/10 {
			t.Errorf("%s had its turn in %d of %d runs", org, served[org], runs)
		}
	}
	if !slices.IsSorted(all) {
		t.Error("the list itself was changed")
	}
}
