package lists

import (
	"context"
	"time"
)

// Since returns the times since which a contact is on its lists, by the lists' ids.
func (l *Lists) Since(ctx context.Context, orgID, contactID string) (map[string]time.Time, error) {
	return l.Members.ListsSince(ctx, orgID, contactID)
}
