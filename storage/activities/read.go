package activities

import (
	"context"
	"math"
	"time"

	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// activityColumns lists the columns of activities from which an activityFound is scanned.
const activityColumns = `occurred_at, id, contact_id, name, properties, source, received_at`

// Each filter of activities has an index that ends in occurrence time and id. A page reads
// a range of that index, newest first. A filter by contact and name reads the index of the
// contact and compares the name row by row. Conditions are row comparisons such as (name,
// occurred_at) >= (...), so that the engine cannot choose another index.
var (
	activitiesByTime = engine.Register("activities by time", `
		SELECT `+activityColumns+` FROM activities
		WHERE org_id = $1 AND occurred_at >= $2 AND (occurred_at, id) < ($3, $4) AND received_at >= $5
		ORDER BY occurred_at DESC, id DESC LIMIT $6`)
	activitiesByName = engine.Register("activities by name", `
		SELECT `+activityColumns+` FROM activities
		WHERE org_id = $1 AND (name, occurred_at) >= ($2, $3) AND (name, occurred_at, id) < ($2, $4, $5) AND received_at >= $6
		ORDER BY name DESC, occurred_at DESC, id DESC LIMIT $7`)
	activitiesOfContact = engine.Register("activities of a contact", `
		SELECT `+activityColumns+` FROM activities
		WHERE org_id = $1 AND (contact_id, occurred_at) >= ($2, $3) AND (contact_id, occurred_at, id) < ($2, $4, $5)
		AND received_at >= $6 AND (CAST($7 AS text) = '' OR name = $7)
		ORDER BY contact_id DESC, occurred_at DESC, id DESC LIMIT $8`)

	// activitySummaries selects the contact's activities in a subquery first. SQLite would
	// otherwise read all activities of the organization ordered by name, to avoid a sort.
	activitySummaries = engine.Register("summaries of activities", `
		WITH theirs AS MATERIALIZED (
			SELECT name, occurred_at FROM activities WHERE org_id = $1 AND contact_id = $2 AND received_at >= $3)
		SELECT name, count(*) AS total, count(CASE WHEN occurred_at >= $4 THEN 1 END) AS recent,
			min(occurred_at) AS first_at, max(occurred_at) AS last_at
		FROM theirs GROUP BY name ORDER BY max(occurred_at) DESC, name`)
)

// activityFound is a row of activities. Properties is the JSON as stored, which may differ
// from the JSON that was sent; see keptMark.
type activityFound struct {
	OccurredAt engine.Time       `db:"occurred_at"`
	ID         string            `db:"id"`
	ContactID  string            `db:"contact_id"`
	Name       string            `db:"name"`
	Properties string            `db:"properties"`
	Source     activities.Source `db:"source"`
	ReceivedAt engine.Time       `db:"received_at"`
}

// activity converts the row.
func (r activityFound) activity() activities.Activity {
	return activities.Activity{
		ID: r.ID, ContactID: r.ContactID, Name: r.Name, OccurredAt: r.OccurredAt.Time(), ReceivedAt: r.ReceivedAt.Time(),
		Source: r.Source, Properties: sentProperties(r.Properties),
	}
}

// Activities returns the activities that match f, newest first. If f has a contact, it
// reads the index by contact. Otherwise it reads the index by name if f has a name, and
// else the index by time.
func (s Store) Activities(ctx context.Context, orgID string, f activities.Filter) ([]activities.Activity, error) {
	from, at, id := boundsOf(f)
	switch {
	case f.ContactID != "":
		return engine.ListAs(ctx, s.db, activityFound.activity, activitiesOfContact, orgID, f.ContactID, from, at, id, engine.At(f.Received), f.Name, f.Limit)
	case f.Name != "":
		return engine.ListAs(ctx, s.db, activityFound.activity, activitiesByName, orgID, f.Name, from, at, id, engine.At(f.Received), f.Limit)
	default:
		return engine.ListAs(ctx, s.db, activityFound.activity, activitiesByTime, orgID, from, at, id, engine.At(f.Received), f.Limit)
	}
}

// boundsOf returns the earliest time of a page of activities, and the time and id before
// which the page begins. The page begins at the cursor, or at the end of the filter's time
// window if that is earlier.
func boundsOf(f activities.Filter) (engine.Time, engine.Time, string) {
	var from engine.Time = math.MinInt64
	if f.From != nil {
		from = roundUpToMicros(*f.From)
	}
	at, id := engine.PageStart(f.After)
	if f.To != nil && (f.After == nil || roundUpToMicros(*f.To) <= at) {
		at, id = roundUpToMicros(*f.To), ""
	}
	return from, at, id
}

// roundUpToMicros returns t rounded up to a microsecond. Stored times are rounded down, so
// an upper bound that was rounded down would miss rows.
func roundUpToMicros(t time.Time) engine.Time {
	at := engine.At(t)
	if at.Time().Before(t) {
		at++
	}
	return at
}

// summaryRow has the counts of a contact's activities with one name. Recent is the number
// in the last 30 days.
type summaryRow struct {
	Name    string      `db:"name"`
	Total   int         `db:"total"`
	Recent  int         `db:"recent"`
	FirstAt engine.Time `db:"first_at"`
	LastAt  engine.Time `db:"last_at"`
}

func (s Store) Summaries(ctx context.Context, orgID, contactID string, since activities.Since) ([]activities.Summary, error) {
	return engine.ListAs(ctx, s.db, summaryRow.summary, activitySummaries, orgID, contactID, engine.At(since.Received), engine.At(since.Recent))
}

// summary converts the row to an activities.Summary.
func (r summaryRow) summary() activities.Summary {
	return activities.Summary{
		Name: r.Name, CountTotal: r.Total, Count30d: r.Recent, FirstAt: r.FirstAt.Time(), LastAt: r.LastAt.Time(),
	}
}
