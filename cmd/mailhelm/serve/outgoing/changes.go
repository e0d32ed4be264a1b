package outgoing

import "context"

// Changes is called with contacts that have changed, in the transaction of the change.
type Changes = func(ctx context.Context, orgID string, contactIDs []string) error

// Both returns a function that calls both.
func Both(first, second Changes) Changes {
	return func(ctx context.Context, orgID string, contactIDs []string) error {
		if err := first(ctx, orgID, contactIDs); err != nil {
			return err
		}
		return second(ctx, orgID, contactIDs)
	}
}
