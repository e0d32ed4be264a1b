package ses

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/mailhelm/mailhelm/core/sending"
)

// EraseAddress removes an address from the contact list and from the suppression list of the
// account. It succeeds if neither has the address.
func (a *Account) EraseAddress(ctx context.Context, orgID, email string) error {
	if err := a.DeleteContact(ctx, orgID, email); err != nil {
		return err
	}
	return a.call(ctx, func(ctx context.Context) error {
		_, err := a.api.DeleteSuppressedDestination(ctx, &sesv2.DeleteSuppressedDestinationInput{EmailAddress: &email})
		if sending.IsNotFound(failureOf(ctx, err)) {
			return nil
		}
		return err
	})
}
