package ses

import (
	"context"
	"net/http"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// sessionName is how our calls appear in the customer's own log of API calls.
const sessionName = "mailhelm"

// newTokenService is the token service, asked with the access key itself.
func newTokenService(c Config, client *http.Client) *sts.Client {
	return sts.New(sts.Options{
		Region: c.Region, BaseEndpoint: address(c.Endpoint), Credentials: accessKey(c.Credentials), HTTPClient: client,
		Retryer: c.retryer(), AppID: sessionName,
	})
}

func accessKey(c Credentials) aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(c.AccessKeyID, c.Secret, c.Token)
}

// credentialsOf is the access key, or what the role gives, kept until it ends.
func credentialsOf(c Config, tokens *sts.Client) aws.CredentialsProvider {
	if c.RoleARN == "" {
		return accessKey(c.Credentials)
	}
	return aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(tokens, c.RoleARN, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = sessionName
		if c.ExternalID != "" {
			o.ExternalID = &c.ExternalID
		}
	}))
}

// accountID is whose account it is.
type accountID struct {
	ask *sts.Client

	mu    sync.Mutex
	known string
}

// get asks once. An id that cannot be had is "": what the caller wants to know is
// the account's state, and that is known by then.
func (a *accountID) get(ctx context.Context) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == "" {
		if who, err := a.ask.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}); err == nil {
			a.known = aws.ToString(who.Account)
		}
	}
	return a.known
}
