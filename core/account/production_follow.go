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
	// settling is how long the provider may still show the verdict on an earlier request. A
	// new request may also take this long to reach the provider.
	settling = time.Hour
	// silence is the time after which a request without a verdict counts as refused.
	silence = 14 * 24 * time.Hour
)

// FollowArgs has the arguments of the job that checks open requests. It has none.
type FollowArgs struct{}

// Kind returns the name of the job.
func (FollowArgs) Kind() string { return "production_access_follow" }

// FollowWorker returns the worker that checks the open requests for production access.
func (a *Account) FollowWorker() jobs.Worker[FollowArgs] {
	return jobs.Worker[FollowArgs]{Work: a.followAll, Every: followEvery, Timeout: followEvery}
}

func (a *Account) followAll(ctx context.Context, _ FollowArgs) error {
	return jobs.ForEachOrg(ctx, "", a.Orgs, "production access", a.Follow)
}

// Follow updates an organization's open request from the state of its account. If the
// account does not answer, the request stays as it is until it expires.
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

// afterLook returns the request after a read of the account's state. known is false if the
// account did not answer.
func afterLook(r sending.AccessRequest, o sending.Overview, known bool, now time.Time) sending.AccessRequest {
	age := now.Sub(r.CreatedAt)
	granted := known && (!o.Sandbox || o.Review == sending.ReviewGranted)
	// A failed review alone is not a verdict on this request. It may belong to an earlier
	// one, and the provider does not report here that it declined a request.
	refused := known && o.Review == sending.ReviewFailed
	switch {
	case granted:
		r.Status, r.GrantedAt = sending.AccessGranted, &now
	case refused && age >= settling, age >= silence:
		r.Status = sending.AccessFailed
	case r.Status == sending.AccessPending && known && o.Review == sending.ReviewPending:
		r.Status = sending.AccessUnderReview
	case r.Status == sending.AccessPending && age >= settling:
		r.Status = sending.AccessFailed // the process ended before the provider answered
	}
	r.UpdatedAt = now
	return r
}

// connection returns how the account is connected; the zero value if none was connected
// by hand.
func (a *Account) connection(ctx context.Context, orgID string) (sending.Connection, error) {
	c, err := a.Connections.Connection(ctx, orgID)
	if err != nil && core.AsError(err).Code == core.CodeNotFound {
		return sending.Connection{}, nil
	}
	return c, err
}

// template returns the recorded infrastructure template of the customer; nil while no
// version is recorded.
func (a *Account) template(ctx context.Context, orgID string) (*InfraTemplate, error) {
	c, err := a.connection(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return templateOf(c), nil
}

// templateOf returns the template recorded in the connection. An AWS stack without a
// recorded version cannot be the newest. Other kinds of account have no template.
func templateOf(c sending.Connection) *InfraTemplate {
	if c.TemplateVersion == 0 && c.Provider != sending.SES {
		return nil
	}
	return &InfraTemplate{
		TemplateVersion: c.TemplateVersion, LatestVersion: sending.LatestTemplateVersion,
		UpToDate: c.TemplateVersion >= sending.LatestTemplateVersion,
	}
}
