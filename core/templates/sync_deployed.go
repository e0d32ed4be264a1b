package templates

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// enqueueDeployment enqueues the deployment of an organization's templates, in the
// transaction of the change that needs it.
func (t *Templates) enqueueDeployment(ctx context.Context, orgID string) error {
	if t.Queue == nil {
		return nil
	}
	return t.Queue.Enqueue(ctx, DeployArgs{OrgID: orgID})
}

// deployedNames returns the templates that the account should have, with the times of their
// deployments.
func (t *Templates) deployedNames(ctx context.Context, orgID string) (map[string]time.Time, error) {
	if t.Deployed == nil {
		return nil, nil
	}
	return t.Deployed.DeployedNames(ctx, orgID)
}

// forgetMissing makes the templates count as not deployed that the account does not list,
// for example because the organization has connected another account. deployed has the
// templates that were deployed before the account was listed. It then enqueues the
// deployment of all templates that are due.
func (t *Templates) forgetMissing(ctx context.Context, orgID string, listed map[string]sending.TemplateName, deployed map[string]time.Time) error {
	for name := range listed {
		delete(deployed, name)
	}
	if len(deployed) == 0 {
		return nil
	}
	if err := t.Deployed.ForgetDeployed(ctx, orgID, deployed); err != nil {
		return err
	}
	return t.enqueueDeployment(ctx, orgID)
}
