package ses

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/mailhelm/mailhelm/core/sending"
)

// listPage is as many as the provider gives at once of identities and
// configuration sets.
const listPage = 1000

// maxRemembered is how many identities an account may have.
const maxRemembered = 10_000

// maxPages ends a listing whose provider never does.
const maxPages = 100

// Identities lists what may be sent from. Domains are asked for one by one, at
// the pace of the provider's control calls, because the listing has no DKIM
// tokens; it is for background work.
func (a *Account) Identities(ctx context.Context, _ string) ([]sending.Identity, error) {
	var all []sending.Identity
	err := a.sweep(ctx, func(ctx context.Context) error {
		listed, err := a.identityInfos(ctx)
		if err != nil {
			return err
		}
		for _, info := range listed {
			one := sending.Identity{Identity: aws.ToString(info.IdentityName), Verification: verificationOf(info.VerificationStatus)}
			if info.IdentityType != types.IdentityTypeEmailAddress {
				if one.DKIMTokens, err = a.dkimTokens(ctx, one.Identity); sending.IsNotFound(err) {
					continue // deleted since it was listed
				} else if err != nil {
					return err
				}
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

func (a *Account) dkimTokens(ctx context.Context, domain string) ([]string, error) {
	a.mu.Lock()
	tokens, known := a.dkim[domain]
	a.mu.Unlock()
	if known {
		return tokens, nil
	}
	if err := a.control.wait(ctx, 1); err != nil {
		return nil, err
	}
	out, err := a.api.GetEmailIdentity(ctx, &sesv2.GetEmailIdentityInput{EmailIdentity: &domain})
	if err != nil {
		return nil, failureOf(ctx, err)
	}
	if out.DkimAttributes == nil || len(out.DkimAttributes.Tokens) == 0 {
		return nil, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.dkim) >= maxRemembered {
		clear(a.dkim)
	}
	a.dkim[domain] = out.DkimAttributes.Tokens
	return out.DkimAttributes.Tokens, nil
}

// verificationOf makes three states of five: what has not begun, and what failed
// for a moment, may still come.
func verificationOf(s types.VerificationStatus) sending.VerificationStatus {
	switch s {
	case types.VerificationStatusSuccess:
		return sending.Success
	case types.VerificationStatusFailed:
		return sending.Failed
	}
	return sending.Pending
}

// eachPage reads pages until there is no next one.
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
	return &sending.Failure{Kind: sending.Refused, Err: errors.New("the listing does not end")}
}
