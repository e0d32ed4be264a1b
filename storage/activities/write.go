package activities

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// insertActivities inserts a batch of activities. It needs no ON CONFLICT clause,
	// because every activity has a newly generated id.
	insertActivities = engine.Register("insert activities", `
		INSERT INTO activities (org_id, occurred_at, id, contact_id, name, properties, source, received_at)
		SELECT $1, CAST(v ->> 'at' AS bigint), v ->> 'id', v ->> 'contact', v ->> 'name', v ->> 'properties',
			v ->> 'source', CAST(v ->> 'received' AS bigint)
		FROM `+engine.ParameterRows(`$2`))

	// claimKeys claims idempotency keys that are free or expired. On PostgreSQL, a claim of
	// a key that an open transaction has claimed waits for the end of that transaction and
	// then tests the key again.
	claimKeys = engine.Register("claim activity keys", `
		INSERT INTO activity_keys (org_id, key, activity_id, contact_id, expires_at)
		SELECT $1, v ->> 'key', v ->> 'activity', v ->> 'contact', CAST($2 AS bigint)
		FROM `+engine.ParameterRows(`$3`)+` WHERE TRUE
		ON CONFLICT (org_id, key) DO UPDATE SET activity_id = excluded.activity_id, contact_id = excluded.contact_id,
			expires_at = excluded.expires_at
		WHERE activity_keys.expires_at <= CAST($4 AS bigint)`)
	// heldKeys selects, by primary key, the activities that have claimed the given
	// idempotency keys.
	heldKeys = engine.Register("held activity keys", `
		SELECT c.key, c.activity_id, c.contact_id FROM `+engine.RowsNamed("activity_keys", engine.Named{Column: "key", Equals: "j.value ->> 'key'"}))

	// claimNames claims an activity name for a contact, so that the contact has this
	// activity only once. Such a claim never expires.
	claimNames = engine.Register("claim activity names", `
		INSERT INTO activity_claims (org_id, contact_id, name, activity_id, claimed_at)
		SELECT $1, v ->> 'contact', v ->> 'name', v ->> 'activity', CAST($2 AS bigint)
		FROM `+engine.ParameterRows(`$3`)+` WHERE TRUE
		ON CONFLICT DO NOTHING`)
	// heldNames selects, by primary key, the activities that have claimed the given pairs of
	// contact and activity name.
	heldNames = engine.Register("held activity names", `
		SELECT c.contact_id, c.name, c.activity_id
		FROM `+engine.RowsNamed("activity_claims", engine.Named{Column: "contact_id", Equals: "j.value ->> 'contact'"}, engine.Named{Column: "name", Equals: "j.value ->> 'name'"}))
)

// activityRow is an element of the JSON parameter of insertActivities. Properties are
// passed as a string, which preserves their bytes.
type activityRow struct {
	At         engine.Time `json:"at"`
	ID         string      `json:"id"`
	Contact    string      `json:"contact"`
	Name       string      `json:"name"`
	Properties string      `json:"properties"`
	Source     string      `json:"source"`
	Received   engine.Time `json:"received"`
}

func (s Store) Insert(ctx context.Context, orgID string, all []activities.Activity) error {
	rows := make([]activityRow, len(all))
	for i, a := range all {
		rows[i] = activityRow{
			At: engine.At(a.OccurredAt), ID: a.ID, Contact: a.ContactID, Name: a.Name, Properties: keptProperties(a.Properties),
			Source: string(a.Source), Received: engine.At(a.ReceivedAt),
		}
	}
	return engine.LaterRows(ctx, s.db, insertActivities, orgID, rows)
}

// claimRow is an activity's claim of an idempotency key, or of a contact together with an
// activity name. The statements claimKeys, claimNames, heldKeys and heldNames use it in
// their JSON parameter. It is also a row of the result of heldKeys and heldNames.
type claimRow struct {
	Key      string `json:"key,omitempty" db:"key"`
	Contact  string `json:"contact" db:"contact_id"`
	Name     string `json:"name,omitempty" db:"name"`
	Activity string `json:"activity" db:"activity_id"`
}

// ClaimKeys claims idempotency keys until the time in the parameter expires. For each key
// that another activity has claimed already, it returns that activity's claim. A claim that
// has expired at the time in the parameter now is replaced instead.
func (s Store) ClaimKeys(ctx context.Context, orgID string, claims []activities.KeyClaim, now, expires time.Time) (map[string]activities.KeyClaim, error) {
	rows, mine := make([]claimRow, len(claims)), make(map[string]string, len(claims))
	for i, c := range claims {
		rows[i] = claimRow{Key: c.Key, Contact: c.ContactID, Activity: c.ActivityID}
		mine[c.Key] = c.ActivityID
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return nil, err
	}
	held := map[string]activities.KeyClaim{}
	err = s.db.Attempt(ctx, activities.ErrClaims, func() error {
		won, err := s.db.Exec(ctx, claimKeys, orgID, engine.At(expires), parameter, engine.At(now))
		if err != nil || won == len(rows) {
			return err
		}
		found, err := engine.List[claimRow](ctx, s.db, heldKeys, parameter, orgID)
		for _, row := range found {
			if mine[row.Key] != row.Activity {
				held[row.Key] = activities.KeyClaim{Key: row.Key, ActivityID: row.Activity, ContactID: row.Contact}
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

// ClaimOnce stores claims. A claim reserves an activity name for one contact, so that the
// contact has this activity only once. It returns the claims for the same contacts and
// names that are already stored for other activities.
func (s Store) ClaimOnce(ctx context.Context, orgID string, claims []activities.OnceClaim, at time.Time) (map[activities.OnceKey]activities.OnceClaim, error) {
	rows, mine := make([]claimRow, len(claims)), make(map[activities.OnceKey]string, len(claims))
	for i, c := range claims {
		rows[i] = claimRow{Contact: c.ContactID, Name: c.Name, Activity: c.ActivityID}
		mine[c.OnceKey] = c.ActivityID
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return nil, err
	}
	held := map[activities.OnceKey]activities.OnceClaim{}
	err = s.db.Attempt(ctx, activities.ErrClaims, func() error {
		won, err := s.db.Exec(ctx, claimNames, orgID, engine.At(at), parameter)
		if err != nil || won == len(rows) {
			return err
		}
		found, err := engine.List[claimRow](ctx, s.db, heldNames, parameter, orgID)
		for _, row := range found {
			key := activities.OnceKey{ContactID: row.Contact, Name: row.Name}
			if mine[key] != row.Activity {
				held[key] = activities.OnceClaim{OnceKey: key, ActivityID: row.Activity}
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}
