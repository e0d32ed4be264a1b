package ses

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/mailhelm/mailhelm/core/sending"
)

// listPage is the maximum page size that SES allows when listing identities and
// configuration sets.
const listPage = 1000

// maxPages is the maximum number of pages of a listing, so that a listing without an end
// fails.
const maxPages = 100

// Identities returns the domains and addresses that the account may send from. The listing
// of SES omits DKIM tokens and default configuration sets. So Identities makes one API call
// for each identity whose details are not cached, and only a few calls per second. Use it
// in background work only.
func (a *Account) Identities(ctx context.Context, _ string) ([]sending.Identity, error) {
	var all []sending.Identity
	err := a.sweep(ctx, func(ctx context.Context) error {
		listed, err := a.identityInfos(ctx)
		if err != nil {
			return err
		}
		details, err := a.details.detailsOf(ctx, listed)
		if err != nil {
			return err
		}
		for _, info := range listed {
			name := aws.ToString(info.IdentityName)
			detail, ok := details[name]
			if !ok {
				continue // deleted since it was listed
			}
			one := sending.Identity{Identity: name, Verification: verificationOf(info.VerificationStatus), ConfigurationSet: detail.configurationSet}
			if info.IdentityType != types.IdentityTypeEmailAddress {
				one.DKIMTokens = detail.tokens
			}
			all = append(all, one)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func (a *Account) identityInfos(ctx context.Context) ([]types.IdentityInfo, error) {
	var all []types.IdentityInfo
	err := eachPage(func(token *string) (*string, error) {
		out, err := a.api.ListEmailIdentities(ctx, &sesv2.ListEmailIdentitiesInput{PageSize: aws.Int32(listPage), NextToken: token})
		if err != nil {
			return nil, err
		}
		all = append(all, out.EmailIdentities...)
		return out.NextToken, nil
	})
	return all, err
}

// verificationOf maps the five verification states of SES to three. "Not started" and
// "temporary failure" become Pending, because the verification may still succeed.
func verificationOf(s types.VerificationStatus) sending.VerificationStatus {
	switch s {
	case types.VerificationStatusSuccess:
		return sending.Success
	case types.VerificationStatusFailed:
		return sending.Failed
	}
	return sending.Pending
}

// eachPage calls read with the token of each page, until there is no next page. It fails
// after maxPages.
func eachPage(read func(token *string) (next *string, err error)) error {
	var token *string
	for range maxPages {
		next, err := read(token)
		if err != nil {
			return err
		}
		if aws.ToString(next) == "" {
			return nil
		}
		token = next
	}
	return &sending.Failure{Kind: sending.Refused, Err: errors.New("the listing has too many pages")}
}
