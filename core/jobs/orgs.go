package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// ForEachOrg visits organizations one after the other: the one with the id, or all
// that list names when the id is "". It goes on when a visit fails, because a
// customer whose account is unreachable must not hold up the others. What failed
// comes back joined, each with what was done and for whom in front of it.
//
// Each run has another order. A visit may take all the time that the run has, and
// those behind it get none: they are not visited, which is told as a failure, and the
// next run comes to others first.
func ForEachOrg(
	ctx context.Context, id string, list func(context.Context) ([]string, error), what string, visit func(ctx context.Context, orgID string) error,
) error {
	orgs := []string{id}
	if id == "" {
		var err error
		if orgs, err = list(ctx); err != nil {
			return err
		}
	}
	orgs = slices.Clone(orgs)
	rand.Shuffle(len(orgs), func(i, j int) { orgs[i], orgs[j] = orgs[j], orgs[i] })
	var failures []error
	for i, org := range orgs {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(failures, fmt.Errorf("%s: organizations not visited: %d: %w", what, len(orgs)-i, err))...)
		}
		if err := visit(ctx, org); err != nil {
			failures = append(failures, fmt.Errorf("%s of organization %s: %w", what, org, err))
		}
	}
	return errors.Join(failures...)
}
