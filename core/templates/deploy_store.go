package templates

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// NameTaken is the failure of a deployment whose name another template has in the sending
// account. Mailhelm does not replace a template that it did not deploy. Only a [Deployment]
// has this kind.
const NameTaken sending.FailureKind = "name_taken"

// DeployStore stores how far managed templates have come to the sending account. Every
// method takes part in the transaction of its context, and reads and writes only the data
// of the given organization.
type DeployStore interface {
	// Undeployed returns the managed templates that must be deployed, at most limit, and
	// first those whose last attempt was longest ago. These are the templates whose newest
	// version was not deployed, and those that were not deployed since the time finished, at
	// which the settings of all mail changed. It leaves out content that the account refused
	// since then.
	Undeployed(ctx context.Context, orgID string, finished time.Time, limit int) ([]Undeployed, error)
	// ClaimName stores that the deployed name of a template was free in the account, and
	// that Mailhelm uses it from now on.
	ClaimName(ctx context.Context, orgID, templateID string) error
	// SaveDeployed stores that a version was deployed. If another job has deployed the
	// template since u was read, it is not known which content came last, and if an image has
	// changed, it is not known which one the content shows: the template then counts as not
	// deployed.
	SaveDeployed(ctx context.Context, orgID string, u Undeployed, version int, at time.Time) error
	// SaveDeployFailure stores that an attempt to deploy a template has failed.
	SaveDeployFailure(ctx context.Context, orgID, templateID string, kind sending.FailureKind, at time.Time) error
	// RefuseDeployments stores the failure for all templates that Undeployed selects, and
	// that no name is claimed for them. Use it for failures of the account itself.
	RefuseDeployments(ctx context.Context, orgID string, finished time.Time, kind sending.FailureKind, at time.Time) error
	// DeployedNames returns the time of the deployment of each template that the account
	// should have, by deployed name.
	DeployedNames(ctx context.Context, orgID string) (map[string]time.Time, error)
	// ForgetDeployed makes templates count as not deployed, because the account does not
	// have them. Each deployed name has its time from DeployedNames. A template that was
	// deployed at another time is not changed.
	ForgetDeployed(ctx context.Context, orgID string, deployed map[string]time.Time) error
	// ManagedContents returns the newest contents of managed templates whose ids are after
	// the id after, in the order of the ids; "" means from the start.
	ManagedContents(ctx context.Context, orgID, after string, limit int) ([]ManagedContent, error)
	// SaveImagesChanged makes templates count as not deployed, because images that they name
	// have changed.
	SaveImagesChanged(ctx context.Context, orgID string, templateIDs []string, at time.Time) error
}

// Undeployed is a managed template to deploy.
type Undeployed struct {
	ID, Slug string
	// Version is the version that was deployed before, 0 for none. Newest is the version to
	// deploy.
	Version, Newest int
	// Claimed is true if the account had no other template of the deployed name when
	// Mailhelm first deployed it.
	Claimed bool
	// ImagesChanged is when an image of the template last changed, zero for never.
	ImagesChanged time.Time
}
