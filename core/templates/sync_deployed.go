package templates

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/sending"
)

// enqueueDeployment enqueues the deployment of an organization's templates, in the
// transaction of the change that needs it.
func enqueueDeployment(ctx context.Context, queue jobs.Queue, orgID string) error {
	if queue == nil {
		return nil
	}
	return queue.Enqueue(ctx, DeployArgs{OrgID: orgID})
}

// deployedNames returns the templates that the account should have, with the times of their
// deployments.
func deployedNames(ctx context.Context, store DeployStore, orgID string) (map[string]time.Time, error) {
	if store == nil {
		return nil, nil
	}
	return store.DeployedNames(ctx, orgID)
}

// forgetMissing makes the templates count as not deployed that the account does not list,
// for example because the organization has connected another account. deployed has the
// templates that were deployed before the account was listed. It then enqueues the
// deployment of all templates that are due.
func forgetMissing(ctx context.Context, cfg Config, orgID string, listed map[string]sending.TemplateName, deployed map[string]time.Time) error {
	for name := range listed {
		delete(deployed, name)
	}
	if len(deployed) == 0 {
		return nil
	}
	if err := cfg.Deployed.ForgetDeployed(ctx, orgID, deployed); err != nil {
		return err
	}
	return enqueueDeployment(ctx, cfg.Queue, orgID)
}
