package jobs

import (
	"context"
	"errors"
	"fmt"
)

// ForEachOrg visits organizations one after the other: the one with the id, or all
// that list names when the id is "". It goes on when a visit fails, because a
// customer whose account is unreachable must not hold up the others. What failed
// comes back joined, each with what was done and for whom in front of it.
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
	var failures []error
	for _, org := range orgs {
		if err := visit(ctx, org); err != nil {
			failures = append(failures, fmt.Errorf("%s of organization %s: %w", what, org, err))
		}
	}
	return errors.Join(failures...)
}
