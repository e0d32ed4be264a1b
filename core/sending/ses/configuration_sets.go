package ses

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/mailhelm/mailhelm/core/sending"
)

// ConfigurationSets returns the account's configuration sets. It makes one API call for
// each set and only a few calls per second, so use it in background work only.
func (a *Account) ConfigurationSets(ctx context.Context, _ string) ([]sending.ConfigurationSet, error) {
	var all []sending.ConfigurationSet
	err := a.sweep(ctx, func(ctx context.Context) error {
		var names []string
		err := eachPage(func(token *string) (*string, error) {
			out, err := a.api.ListConfigurationSets(ctx, &sesv2.ListConfigurationSetsInput{PageSize: aws.Int32(listPage), NextToken: token})
			if err != nil {
				return nil, err
			}
			names = append(names, out.ConfigurationSets...)
			return out.NextToken, nil
		})
		if err != nil {
			return err
		}
		for _, name := range names {
			set, err := a.configurationSet(ctx, name)
			if sending.IsNotFound(err) {
				continue // deleted since it was listed
			}
			if err != nil {
				return err
			}
			all = append(all, set)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func (a *Account) configurationSet(ctx context.Context, name string) (sending.ConfigurationSet, error) {
	if err := a.control.wait(ctx, 1); err != nil {
		return sending.ConfigurationSet{}, err
	}
	out, err := a.api.GetConfigurationSet(ctx, &sesv2.GetConfigurationSetInput{ConfigurationSetName: &name})
	if err != nil {
		return sending.ConfigurationSet{}, failureOf(ctx, err)
	}
	set := sending.ConfigurationSet{Name: name}
	if out.TrackingOptions != nil {
		set.TrackingDomain = aws.ToString(out.TrackingOptions.CustomRedirectDomain)
	}
	if out.SuppressionOptions != nil {
		for _, reason := range out.SuppressionOptions.SuppressedReasons {
			set.SuppressionPolicy = append(set.SuppressionPolicy, string(reason))
		}
	}
	return set, nil
}
