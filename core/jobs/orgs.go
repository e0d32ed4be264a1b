package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// OrgArgs are the arguments of a job for one organization, whose id Org returns, or for all, if it is "".
type OrgArgs interface {
	Args
	Org() string
}

// ForEachOrg calls visit for the organization with the given id or, if id is "", for each
// organization that list returns. After a failed visit it continues, because one
// unreachable account must not delay other customers. It returns all failures, joined. Each
// begins with the parameter what, such as "sync", and the organization's id.
//
// The order is random. So if one slow visit uses up the time of a whole run, it is not
// always the same organizations that are left out. If ctx ends before the last visit, the
// error has the number of organizations that were not visited.
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
