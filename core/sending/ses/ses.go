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

// Config describes how to reach one account at SES.
type Config struct {
	// AccountID is the id of the AWS account, twelve digits; "" if unknown. It is then read
	// once from AWS STS.
	AccountID string
	// Region is the name of the AWS region, such as eu-central-1.
	Region string
	// Endpoint is a URL that replaces the endpoints of SES and STS; "" means those of the
	// region.
	Endpoint string
	// Credentials sign the API calls. If RoleARN is set, they only request credentials of
	// that role, which then sign the calls.
	Credentials Credentials
	RoleARN     string
	// ExternalID is the id that the role's trust policy requires. It prevents a customer
	// from making Mailhelm assume the role of another customer.
	ExternalID string

	// HTTPClient makes the API calls; nil means a new client for this account.
	HTTPClient *http.Client
	// Clock returns the time; nil means core.SystemClock.
	Clock core.Clock
	// CallTimeout is the deadline of each method call; zero means five seconds. Methods that
	// make one API call for each identity, configuration set or contact have a deadline that
	// is 24 times as long.
	CallTimeout time.Duration
	// RetryDelay is the wait before the second try of an API call; zero means half a second.
	RetryDelay time.Duration

	pace *pace // limits the send rate; nil means a limiter for this account only
}

// Credentials are an AWS access key. Token is set only for temporary keys.
type Credentials struct{ AccessKeyID, Secret, Token string }

const (
	defaultCallTimeout = 5 * time.Second
	defaultRetryDelay  = 500 * time.Millisecond
	// sweepFactor multiplies CallTimeout for methods that make one API call for each
	// identity, configuration set or contact.
	sweepFactor = 24
	maxAttempts = 2
)

// Account is one organization's account at SES. It is safe for concurrent use. It has many
// methods because it implements the whole interface [sending.Account]; each file has one
// part of them.
type Account struct {
	api      *sesv2.Client
	identity *accountID
	region   string
	clock    core.Clock
	timeout  time.Duration
	pace     *pace
	control  *pace

	// changing is used as a lock. It contains a value while a goroutine changes the
	// account's topics.
	changing chan struct{}

	list    *listName
	details *identityDetails
}

// New returns an Account without making an API call. It fails if the region, the
// credentials or the role are missing or malformed.
func New(c Config) (*Account, error) {
	switch {
	case !sending.IsRegion(c.Region):
		return nil, errors.New("the region must be written like eu-central-1")
	case c.Credentials.AccessKeyID == "" || c.Credentials.Secret == "":
		return nil, errors.New("an access key with its secret is needed, also to assume a role")
	case c.RoleARN != "" && !sending.IsRoleARN(c.RoleARN):
		return nil, errors.New("the role must be written like arn:aws:iam::111122223333:role/name")
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

// retryer returns a retryer that tries each API call at most twice: after throttling, 5xx
// responses and broken connections. There is no common limit for the retries of all calls,
// because each call is retried only once.
func (c Config) retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.RateLimiter = ratelimit.None
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return c.RetryDelay, nil })
	})
}

// disableRetries is an option of an API call that prevents retries.
func disableRetries(o *sesv2.Options) { o.Retryer = aws.NopRetryer{} }

// address returns a pointer to the endpoint, or nil for "", which means the default
// endpoint of the region.
func address(endpoint string) *string {
	if endpoint == "" {
		return nil
	}
	return &endpoint
}

// call runs do with the deadline CallTimeout. It fails with a *sending.Failure.
func (a *Account) call(ctx context.Context, do func(context.Context) error) error {
	return within(ctx, a.timeout, do)
}

// sweep runs the function do with a longer deadline than one API call has. It is for
// methods that make one API call for each identity, configuration set or contact. It fails
// with a *sending.Failure.
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

// Open returns a function that opens the SES account of a connection. shared has the HTTP
// client, the clock and the timeouts for all accounts. The Credentials of shared belong to
// this installation. They are used only for connections with a role and without an access
// key.
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
