package jobs_test

import (
	"context"
	"errors"
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
		if !slices.Equal(visited, tc.visited) || !errors.Is(err, tc.err) || err != nil && err.Error() != tc.text {
			t.Errorf("%s: visited %v, %v", name, visited, err)
		}
	}
}
