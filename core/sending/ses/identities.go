package ses

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/mailhelm/mailhelm/core/sending"
)

// listPage is the provider's largest page of identities and of configuration sets.
const listPage = 1000

const (
	// maxRemembered is the most identities of one account in the cache.
	maxRemembered = 10_000
	// detailGoodFor is how long the details of an identity are cached. It is shorter
	// than the time between two syncs.
	detailGoodFor = 10 * time.Minute
)

// maxPages ends a listing whose provider returns pages without end.
const maxPages = 100

// Identities returns the domains and addresses that the account may send from. The
// provider's listing has neither DKIM tokens nor default configuration sets. So it
// makes one call for each identity, at the rate of control calls. Use it in background
// work only.
func (a *Account) Identities(ctx context.Context, _ string) ([]sending.Identity, error) {
	var all []sending.Identity
	err := a.sweep(ctx, func(ctx context.Context) error {
		listed, err := a.identityInfos(ctx)
		if err != nil {
			return err
		}
		details, err := a.detailsOf(ctx, listed)
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

// identityDetail has the fields of an identity that the listing omits.
type identityDetail struct {
	tokens           []string
	configurationSet string
	read             time.Time
}

// detailsOf reads the details of unknown identities first, then those read longest ago.
// When time runs out, it returns cached details for the latter.
func (a *Account) detailsOf(ctx context.Context, listed []types.IdentityInfo) (map[string]identityDetail, error) {
	known := a.cachedDetails(listed)
	names := make([]string, len(listed))
	for i, info := range listed {
		names[i] = aws.ToString(info.IdentityName)
	}
	slices.SortStableFunc(names, func(x, y string) int { return known[x].read.Compare(known[y].read) })
	for _, name := range names {
		was, ok := known[name]
		if age := a.clock().Sub(was.read); ok && age >= 0 && age < detailGoodFor {
			continue
		}
		if err := a.control.wait(ctx, 1); err != nil {
			if ok {
				break
			}
			return nil, err
		}
		detail, err := a.detail(ctx, name)
		switch {
		case sending.IsNotFound(err):
			delete(known, name)
		case err != nil:
			return nil, err
		default:
			known[name] = detail
		}
	}
	return known, nil
}

func (a *Account) cachedDetails(listed []types.IdentityInfo) map[string]identityDetail {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := make(map[string]identityDetail, len(listed))
	for _, info := range listed {
		if detail, ok := a.details[aws.ToString(info.IdentityName)]; ok {
			known[aws.ToString(info.IdentityName)] = detail
		}
	}
	return known
}

func (a *Account) detail(ctx context.Context, name string) (identityDetail, error) {
	out, err := a.api.GetEmailIdentity(ctx, &sesv2.GetEmailIdentityInput{EmailIdentity: &name})
	if err != nil {
		return identityDetail{}, failureOf(ctx, err)
	}
	detail := identityDetail{configurationSet: aws.ToString(out.ConfigurationSetName), read: a.clock()}
	if out.DkimAttributes != nil {
		detail.tokens = out.DkimAttributes.Tokens
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.details) >= maxRemembered {
		clear(a.details)
	}
	a.details[name] = detail
	return detail, nil
}

// verificationOf maps the provider's five states to three. Not started and temporary
// failure map to pending, because verification may still succeed.
func verificationOf(s types.VerificationStatus) sending.VerificationStatus {
	switch s {
	case types.VerificationStatusSuccess:
		return sending.Success
	case types.VerificationStatusFailed:
		return sending.Failed
	}
	return sending.Pending
}

// eachPage calls read until there is no next page.
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
