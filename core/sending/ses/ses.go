package ses

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

var _ sending.Account = (*Account)(nil)

// Config describes how to reach one account.
type Config struct {
	// AccountID is the account's twelve digits; "" when unknown. It is then read once
	// from the token service.
	AccountID string
	// Region is a region's name, such as eu-central-1.
	Region string
	// Endpoint replaces the addresses of the mail service and of the token service; ""
	// means those of the region.
	Endpoint string
	// Credentials sign the calls. With RoleARN they only request the role's
	// credentials.
	Credentials Credentials
	RoleARN     string
	// ExternalID is the id that the role's trust policy requires. It keeps other
	// customers from making us assume the role.
	ExternalID string

	// HTTPClient carries the calls; nil means a client of this account alone.
	HTTPClient *http.Client
	// Clock returns the time; nil means core.SystemClock.
	Clock core.Clock
	// CallTimeout is the deadline of each call of the port; zero means five seconds.
	// Listings with one call for each item have 24 times as long.
	CallTimeout time.Duration
	// RetryDelay is the pause before the second try; zero means half a second.
	RetryDelay time.Duration

	pace *pace // nil means a pace of this account alone
}

// Credentials are an access key. Token is set for temporary keys.
type Credentials struct{ AccessKeyID, Secret, Token string }

const (
	defaultCallTimeout = 5 * time.Second
	defaultRetryDelay  = 500 * time.Millisecond
	// sweepFactor is the factor on CallTimeout for listings with one call for each
	// item.
	sweepFactor = 24
	maxAttempts = 2
)

// Account is one organization's account. It is safe for concurrent use. It has 31 methods
// because it is the adapter of the whole port [sending.Account]; each part of the port is
// a file.
type Account struct {
	api      *sesv2.Client
	identity *accountID
	region   string
	clock    core.Clock
	timeout  time.Duration
	pace     *pace
	control  *pace

	// changing holds a value while a goroutine changes the topics.
	changing chan struct{}

	list    *listName
	details *identityDetails
}

// New returns the account without making a call. It fails when the config is incomplete
// or malformed.
func New(c Config) (*Account, error) {
	switch {
	case !sending.IsRegion(c.Region):
		return nil, errors.New("a region is written like eu-central-1")
	case c.Credentials.AccessKeyID == "" || c.Credentials.Secret == "":
		return nil, errors.New("an access key with its secret is needed, also to take on a role")
	case c.RoleARN != "" && !sending.IsRoleARN(c.RoleARN):
		return nil, errors.New("a role is written like arn:aws:iam::111122223333:role/name")
	}
	if c.Clock == nil {
		c.Clock = core.SystemClock
	}
	if c.CallTimeout <= 0 {
		c.CallTimeout = defaultCallTimeout
	}
	if c.RetryDelay <= 0 {
		c.RetryDelay = defaultRetryDelay
	}
	if c.pace == nil {
		c.pace = newSendPace()
	}
	client := boundClient(c.HTTPClient)
	tokens := newTokenService(c, client)
	api := sesv2.New(sesv2.Options{
		Region: c.Region, BaseEndpoint: address(c.Endpoint), Credentials: credentialsOf(c, tokens), HTTPClient: client,
		Retryer: c.retryer(), AppID: "mailhelm",
	})
	control := newControlPace()
	return &Account{
		api:      api,
		identity: &accountID{known: c.AccountID, ask: tokens},
		region:   c.Region, clock: c.Clock, timeout: c.CallTimeout,
		pace: c.pace, control: control, changing: make(chan struct{}, 1),
		list:    &listName{api: api, clock: c.Clock},
		details: &identityDetails{api: api, clock: c.Clock, pace: control, known: map[string]identityDetail{}},
	}, nil
}

// retryer retries after throttling, failures of the provider and broken connections. It
// has no retry budget across calls, because two tries are few.
func (c Config) retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.RateLimiter = ratelimit.None
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return c.RetryDelay, nil })
	})
}

// disableRetries disables the retries of one call.
func disableRetries(o *sesv2.Options) { o.Retryer = aws.NopRetryer{} }

// address returns the endpoint, or nil for the region's own.
func address(endpoint string) *string {
	if endpoint == "" {
		return nil
	}
	return &endpoint
}

// call runs do with the deadline of a call. It fails with a *sending.Failure.
func (a *Account) call(ctx context.Context, do func(context.Context) error) error {
	return within(ctx, a.timeout, do)
}

// sweep is call with the longer deadline of listings with one call for each item.
func (a *Account) sweep(ctx context.Context, do func(context.Context) error) error {
	return within(ctx, sweepFactor*a.timeout, do)
}

func within(ctx context.Context, timeout time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return failureOf(ctx, err)
	}
	return failureOf(ctx, do(ctx))
}

// Open returns the function that opens the account of a connection. shared has the HTTP
// client, the clock and the timeouts of all accounts. Its Credentials are those of this
// installation; they are used for connections with a role and no access key.
func Open(shared Config) sending.Open {
	rates := newPaces()
	return func(c sending.Connection) (sending.Account, error) {
		own := shared
		own.AccountID, own.Region, own.Endpoint, own.RoleARN, own.ExternalID = c.AccountID, c.Region, c.Endpoint, c.RoleARN, c.ExternalID
		if c.AccessKeyID != "" || c.RoleARN == "" {
			own.Credentials = Credentials{AccessKeyID: c.AccessKeyID, Secret: c.Secret}
		}
		own.pace = rates.paceOf(own)
		return New(own)
	}
}
