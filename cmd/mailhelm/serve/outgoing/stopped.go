package outgoing

import (
	"context"

	"github.com/mailhelm/mailhelm/core/handover"
)

// MailStopped returns a function that reports whether all mail of an organization is
// stopped.
func MailStopped(limits handover.LimitStore) func(ctx context.Context, orgID string) (bool, error) {
	return func(ctx context.Context, orgID string) (bool, error) {
		stop, err := limits.Stopped(ctx, orgID)
		return stop != nil, err
	}
}
