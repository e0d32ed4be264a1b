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
	// settling is how long the provider may still show an earlier verdict, and how
	// long a request may be on its way to it.
	settling = time.Hour
	// silence is when a request without an answer counts as refused.
	silence = 14 * 24 * time.Hour
)

// FollowArgs are the arguments of the look at open requests.
type FollowArgs struct{}

// Kind names the job.
func (FollowArgs) Kind() string { return "production_access_follow" }

// FollowWorker checks the open requests for production access.
func (a *Account) FollowWorker() jobs.Worker[FollowArgs] {
	return jobs.Worker[FollowArgs]{Work: a.followAll, Every: followEvery, Timeout: followEvery}
}

func (a *Account) followAll(ctx context.Context, _ FollowArgs) error {
	return jobs.ForEachOrg(ctx, "", a.Orgs, "production access", a.Follow)
}

// Follow brings an organization's open request up to what the provider shows. An
// account that does not answer leaves it as it is, until its time is over.
func (a *Account) Follow(ctx context.Context, orgID string) error {
	r, err := a.latestRequest(ctx, orgID)
	if err != nil || r == nil || !r.Status.Open() {
		return err
	}
	now := a.Clock()
	overview, err := a.Account.Overview(ctx, orgID)
	decided := afterLook(*r, overview, err == nil, now)
	if decided.Status == r.Status {
		return err
	}
	_, err = a.Requests.DecideRequest(ctx, orgID, decided)
	if err == nil {
		a.Log.InfoContext(ctx, "production access", "org_id", orgID, "status", decided.Status)
	}
	return err
}

// afterLook is the request after a look at the account. known is false when the
// account did not answer.
func afterLook(r sending.AccessRequest, o sending.Overview, known bool, now time.Time) sending.AccessRequest {
	age := now.Sub(r.CreatedAt)
	granted := known && (!o.Sandbox || o.Review == sending.ReviewGranted)
	// A verdict of denied is no answer: it may be that of an earlier request, and a
	// provider that turns a request down does not say so here.
	refused := known && o.Review == sending.ReviewFailed
	switch {
	case granted:
		r.Status, r.GrantedAt = sending.AccessGranted, &now
	case refused && age >= settling, age >= silence:
		r.Status = sending.AccessFailed
	case r.Status == sending.AccessPending && known && o.Review == sending.ReviewPending:
		r.Status = sending.AccessUnderReview
	case r.Status == sending.AccessPending && age >= settling:
		r.Status = sending.AccessFailed // the process ended before the provider had answered
	}
	r.UpdatedAt = now
	return r
}

// connection is how the account is reached, zero while nothing is connected by hand.
func (a *Account) connection(ctx context.Context, orgID string) (sending.Connection, error) {
	c, err := a.Connections.Connection(ctx, orgID)
	if err != nil && core.AsError(err).Code == core.CodeNotFound {
		return sending.Connection{}, nil
	}
	return c, err
}

// template is what is known of the customer's infrastructure; nil while no version
// is recorded.
func (a *Account) template(ctx context.Context, orgID string) (*InfraTemplate, error) {
	c, err := a.connection(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return templateOf(c), nil
}

// templateOf is the template that the connection tells of. A stack of Amazon's that
// no member recorded cannot be the newest; the other kinds of account have none.
func templateOf(c sending.Connection) *InfraTemplate {
	if c.TemplateVersion == 0 && c.Provider != sending.SES {
		return nil
	}
	return &InfraTemplate{
		TemplateVersion: c.TemplateVersion, LatestVersion: sending.LatestTemplateVersion,
		UpToDate: c.TemplateVersion >= sending.LatestTemplateVersion,
	}
}
