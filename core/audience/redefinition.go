package audience

import "context"

// Redefinition is a change of what predicates test, other than of attributes.
type Redefinition struct {
	// GoneLists are ids of lists that are deleted.
	GoneLists []string
}

func (a *Audience) redefined(ctx context.Context, orgID string, what Redefinition) error {
	if a.Redefined == nil {
		return nil
	}
	return a.Redefined(ctx, orgID, what)
}
