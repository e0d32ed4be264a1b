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

// sessionName identifies the calls of Mailhelm in the customer's AWS logs.
const sessionName = "mailhelm"

// newTokenService returns a client of AWS STS (Security Token Service) that signs its calls
// with the access key of c.
func newTokenService(c Config, client *http.Client) *sts.Client {
	return sts.New(sts.Options{
		Region: c.Region, BaseEndpoint: address(c.Endpoint), Credentials: accessKey(c.Credentials), HTTPClient: client,
		Retryer: c.retryer(), AppID: sessionName,
	})
}

func accessKey(c Credentials) aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(c.AccessKeyID, c.Secret, c.Token)
}

// credentialsOf returns the access key of c if c has no role. Otherwise it returns
// temporary credentials of the role, which are cached until they expire.
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

// accountID reads the id of the AWS account once and caches it.
type accountID struct {
	ask *sts.Client

	mu    sync.Mutex
	known string
}

// get returns the id of the AWS account, or "" if it cannot be read. It does not fail,
// because the callers have read the account's state successfully and can do without the id.
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
