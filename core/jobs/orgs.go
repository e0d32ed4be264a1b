package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// ForEachOrg visits the organization with the id, or with "" all that list returns, one
// after the other. It continues after a failed visit, because one unreachable account must
// not delay other customers. It returns the failures joined, each prefixed with what and the
// organization.
//
// The order is random for each run, since one visit may use up the time of the run.
// Organizations that were not visited are a failure, and the next run visits others first.
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
