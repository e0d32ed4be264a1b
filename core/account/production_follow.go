package account

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	followEvery = 15 * time.Minute
	// settling is the time after a request for production access in which a failed review
	// may belong to an earlier request. The provider may also take this long to show the new
	// request.
	settling = time.Hour
	// decisionTimeout is the time after which a request for production access without a
	// decision of the provider counts as failed.
	decisionTimeout = 14 * 24 * time.Hour
)

// FollowArgs is the argument type of the job that checks the open requests for production
// access. The job needs no arguments.
type FollowArgs struct{}

// Kind returns the name of the job that checks requests for production access, for the
// database and metrics.
func (FollowArgs) Kind() string { return "production_access_follow" }

// FollowWorker returns the worker of the periodic job that checks the open requests for
// production access of all organizations.
func (a *Account) FollowWorker() jobs.Worker[FollowArgs] {
	return jobs.Worker[FollowArgs]{Work: a.followAll, Every: followEvery, Timeout: followEvery}
}

func (a *Account) followAll(ctx context.Context, _ FollowArgs) error {
	return jobs.ForEachOrg(ctx, "", a.Orgs, "production access", a.Follow)
}

// Follow updates an organization's open request for production access from the state of its
// account. If the account does not answer, the request stays open until it expires.
func (a *Account) Follow(ctx context.Context, orgID string) error {
	r, err := a.latestRequest(ctx, orgID)
	if err != nil || r == nil || !r.Status.Open() {
		return err
	}
	now := a.Clock()
	overview, err := a.Account.Overview(ctx, orgID)
	decided := nextStatus(*r, overview, err == nil, now)
	if decided.Status == r.Status {
		return err
	}
	_, err = a.Requests.DecideRequest(ctx, orgID, decided)
	if err == nil {
		a.Log.InfoContext(ctx, "status of production access changed", "org_id", orgID, "status", decided.Status)
	}
	return err
}

// nextStatus returns the request r with its new status. The status follows from the
// account's state o and the age of r. If the account did not answer, known is false and o
// is ignored.
func nextStatus(r sending.AccessRequest, o sending.Overview, known bool, now time.Time) sending.AccessRequest {
	age := now.Sub(r.CreatedAt)
	granted := known && (!o.Sandbox || o.Review == sending.ReviewGranted)
	// A failed review may belong to an earlier request, so it counts only once this request
	// has the age settling. A denied review does not end a request that is under review. Such
	// a request fails at the age decisionTimeout, if it is not granted before.
	refused := known && o.Review == sending.ReviewFailed
	switch {
	case granted:
		r.Status, r.GrantedAt = sending.AccessGranted, &now
	case refused && age >= settling, age >= decisionTimeout:
		r.Status = sending.AccessFailed
	case r.Status == sending.AccessPending && known && o.Review == sending.ReviewPending:
		r.Status = sending.AccessUnderReview
	case r.Status == sending.AccessPending && age >= settling:
		r.Status = sending.AccessFailed // the process ended before it stored the provider's answer
	}
	r.UpdatedAt = now
	return r
}

// connection returns the stored connection to the organization's sending account. It
// returns the zero value if no connection is stored.
func (a *Account) connection(ctx context.Context, orgID string) (sending.Connection, error) {
	c, err := a.Connections.Connection(ctx, orgID)
	if err != nil && core.AsError(err).Code == core.CodeNotFound {
		return sending.Connection{}, nil
	}
	return c, err
}

// template returns the infrastructure template (CloudFormation) that the customer applied
// to the AWS account; see templateOf.
func (a *Account) template(ctx context.Context, orgID string) (*InfraTemplate, error) {
	c, err := a.connection(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return templateOf(c), nil
}

// templateOf returns the version of the infrastructure template that the connection
// records, and whether it is the latest. For an SES account without a recorded version it
// returns version 0, which is not up to date. It returns nil for other accounts without a
// version.
func templateOf(c sending.Connection) *InfraTemplate {
	if c.TemplateVersion == 0 && c.Provider != sending.SES {
		return nil
	}
	return &InfraTemplate{
		TemplateVersion: c.TemplateVersion, LatestVersion: sending.LatestTemplateVersion,
		UpToDate: c.TemplateVersion >= sending.LatestTemplateVersion,
	}
}
