package ses

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

var _ sending.Account = (*Account)(nil)

// Config is how one account is reached.
type Config struct {
	// AccountID is the account's twelve digits, when they are known. Otherwise the
	// token service is asked, once.
	AccountID string
	// Region is such as eu-central-1.
	Region string
	// Endpoint replaces the addresses of the mail service and of the token service;
	// "" means those of the region.
	Endpoint string
	// Credentials sign the calls, or ask for those of RoleARN when there is one.
	Credentials Credentials
	RoleARN     string
	// ExternalID is what the role's owner was told, so that nobody else can have us
	// take it on.
	ExternalID string

	// HTTPClient carries the calls. nil is one of the account's own.
	HTTPClient *http.Client
	// Clock is nil for core.SystemClock.
	Clock core.Clock
	// CallTimeout is the deadline every call of the port has of its own; zero is
	// five seconds. Listings that ask for each thing by itself have two minutes
	// for each five seconds of it.
	CallTimeout time.Duration
	// RetryDelay is the pause before the second try; zero is half a second.
	RetryDelay time.Duration

	pace *pace // nil is one of the account's own
}

// Credentials are an access key. Token is set for keys that end by themselves.
type Credentials struct{ AccessKeyID, Secret, Token string }

const (
	defaultCallTimeout = 5 * time.Second
	defaultRetryDelay  = 500 * time.Millisecond
	// sweepFactor times the deadline of a call is that of a listing which asks for
	// each thing by itself.
	sweepFactor = 24
	maxAttempts = 2
)

// Account is one organization's account. It is safe for concurrent use.
type Account struct {
	api      *sesv2.Client
	identity *accountID
	region   string
	clock    core.Clock
	timeout  time.Duration
	pace     *pace
	control  *pace

	// changing holds a value while somebody changes the topics.
	changing chan struct{}

	mu       sync.Mutex
	list     string // the contact list's name, "" while unknown
	listRead time.Time
	// details remembers what is asked of each identity by itself: a listing that ran
	// out of time gets further when it is tried again soon.
	details map[string]identityDetail
}

// New makes the account without asking it anything. It fails when the config can
// reach none.
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
	client := bounded(c.HTTPClient)
	tokens := newTokenService(c, client)
	return &Account{
		api: sesv2.New(sesv2.Options{
			Region: c.Region, BaseEndpoint: address(c.Endpoint), Credentials: credentialsOf(c, tokens), HTTPClient: client,
			Retryer: c.retryer(), AppID: "mailhelm",
		}),
		identity: &accountID{known: c.AccountID, ask: tokens},
		region:   c.Region, clock: c.Clock, timeout: c.CallTimeout,
		pace: c.pace, control: newControlPace(), details: map[string]identityDetail{},
		changing: make(chan struct{}, 1),
	}, nil
}

// retryer tries again after throttling, failures of the provider and broken
// connections. It keeps no budget over calls: two tries are few.
func (c Config) retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.RateLimiter = ratelimit.None
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return c.RetryDelay, nil })
	})
}

// once is for calls that are not repeated whatever becomes of them.
func once(o *sesv2.Options) { o.Retryer = aws.NopRetryer{} }

// address is nil for the region's own.
func address(endpoint string) *string {
	if endpoint == "" {
		return nil
	}
	return &endpoint
}

// call runs a call of the port under its deadline. What is wrong comes out as a
// *sending.Failure.
func (a *Account) call(ctx context.Context, do func(context.Context) error) error {
	return within(ctx, a.timeout, do)
}

// sweep is call for a listing that asks for each thing by itself.
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

// Open opens the account of a connection. shared is what all accounts have in
// common: the HTTP client, the clock and the times, and with Credentials those of
// this installation, for connections that name a role and no access key.
func Open(shared Config) sending.Open {
	rates := newPaces()
	return func(c sending.Connection) (sending.Account, error) {
		own := shared
		own.AccountID, own.Region, own.Endpoint, own.RoleARN, own.ExternalID = c.AccountID, c.Region, c.Endpoint, c.RoleARN, c.ExternalID
		if c.AccessKeyID != "" || c.RoleARN == "" {
			own.Credentials = Credentials{AccessKeyID: c.AccessKeyID, Secret: c.Secret}
		}
		own.pace = rates.of(own)
		return New(own)
	}
}
