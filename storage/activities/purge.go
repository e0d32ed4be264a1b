package activities

import (
	"context"
	"math"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Old activities are selected outside a write transaction, so that only the deletion uses
// the connection for writes. The selected rows cannot change before the deletion, because
// no other code changes or deletes activities.
var (
	// oldActivities selects activities in the order of the primary key, beginning after the
	// key ($3, $4). Both the time of occurrence and the time of receipt must be before $2.
	// So an activity that happened long ago, but was received recently, is not deleted yet.
	oldActivities = engine.Register("old activities", `
		SELECT occurred_at, id FROM activities
		WHERE org_id = $1 AND occurred_at < $2 AND (occurred_at, id) > ($3, $4) AND received_at < $2
		ORDER BY occurred_at, id LIMIT $5`)
	// purgeActivities deletes by primary key the activities that oldActivities selected.
	purgeActivities = engine.Register("purge activities", `
		DELETE FROM activities WHERE org_id = $1 AND (occurred_at, id) IN (
			SELECT CAST(v ->> 'at' AS bigint), v ->> 'id' FROM `+engine.ParameterRows(`$2`)+`)`)
	// purgeKeys deletes up to $3 expired idempotency keys through the index
	// activity_keys_expiry.
	purgeKeys = engine.Register("purge activity keys", `
		DELETE FROM activity_keys WHERE org_id = $1 AND key IN (
			SELECT key FROM activity_keys WHERE org_id = $1 AND expires_at <= $2 ORDER BY expires_at LIMIT $3)`)
)

// activityPlace is the primary key of an activity, without the organization.
type activityPlace struct {
	At engine.Time `db:"occurred_at" json:"at"`
	ID string      `db:"id" json:"id"`
}

// PurgeActivities deletes up to limit activities from before the time in the parameter
// before, and returns how many it deleted. It also returns the cursor at which the next
// call must begin, or nil if no old activities are left.
func (s Store) PurgeActivities(ctx context.Context, orgID string, before time.Time, after *core.After, limit int) (int, *core.After, error) {
	place := activityPlace{At: math.MinInt64}
	if after != nil {
		place = activityPlace{At: engine.At(after.At), ID: after.ID}
	}
	old, err := engine.List[activityPlace](ctx, s.db, oldActivities, orgID, engine.At(before), place.At, place.ID, limit)
	if err != nil || len(old) == 0 {
		return 0, nil, err
	}
	parameter, err := engine.JSONParameter(old)
	if err != nil {
		return 0, nil, err
	}
	purged, err := s.db.Exec(ctx, purgeActivities, orgID, parameter)
	if err != nil {
		return 0, nil, err
	}
	if len(old) < limit {
		return purged, nil, nil
	}
	last := old[len(old)-1]
	return purged, &core.After{At: last.At.Time(), ID: last.ID}, nil
}

func (s Store) PurgeKeys(ctx context.Context, orgID string, now time.Time, limit int) (int, error) {
	return s.db.Exec(ctx, purgeKeys, orgID, engine.At(now), limit)
}
