package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// keptSince returns the start of the retention period. Reads omit activities that were
// received earlier, and the purge job deletes them.
func keptSince(now time.Time, retentionDays int) time.Time {
	return now.AddDate(0, 0, -core.ActivityDays(retentionDays))
}

// ListActivitiesIn has the filters of a list of activities, and the size and cursor of the
// requested page. An activity must match all filters that are set.
type ListActivitiesIn struct {
	Name    string     `json:"name,omitempty" jsonschema:"maxLength=200" jsonschema_description:"Only activities with exactly this name."`
	From    *time.Time `json:"from,omitempty" jsonschema_description:"Only activities at or after this time."`
	To      *time.Time `json:"to,omitempty" jsonschema_description:"Only activities before this time."`
	Contact string     `json:"contact,omitempty" jsonschema:"maxLength=320" jsonschema_description:"Only activities of this contact: its id, address or external id. An unknown contact has no activities."`
	Limit   int        `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor  string     `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (a *Activities) activitiesList() core.Operation {
	return core.Declare(core.Op[ListActivitiesIn, Page]{
		Name:    "activities_list",
		Title:   "List activities",
		Purpose: "Pages through what contacts did, newest first, with filters. An activity is kept for 365 days after its receipt, or for the plan's period.",
		Example: `{"name": "order_placed", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		CostOf: func(_ *core.Call, in ListActivitiesIn) core.Cost {
			if in.Contact != "" && in.Name != "" { // no index has both the contact and the name
				return core.Heavy
			}
			return core.Light
		},
		Scopes: []core.Scope{core.ActivitiesView},
		Do: func(ctx context.Context, c *core.Call, in ListActivitiesIn) (Page, error) {
			q := query{Filter: Filter{Name: in.Name, From: in.From, To: in.To}, of: in.Contact, cursor: in.Cursor, limit: core.Limit(in.Limit)}
			if in.Contact != "" {
				id, err := a.Store.ContactByReference(ctx, c.Principal.Org.ID, in.Contact)
				if err != nil {
					return Page{}, err
				}
				q.ContactID, q.noContact = id, id == ""
			}
			return a.page(ctx, c, q)
		},
	})
}

// query has the filters, the cursor and the size of a page of activities.
type query struct {
	Filter
	// The field named of is the contact as the caller named it: an id, an address or an
	// external id. noContact is true if the organization has no such contact.
	of        string
	noContact bool
	cursor    string
	limit     int
}

func (a *Activities) page(ctx context.Context, c *core.Call, q query) (Page, error) {
	if q.From != nil && q.To != nil && !q.From.Before(*q.To) {
		return Page{}, core.Invalid("from", "is not before `to`")
	}
	filter := q.text()
	after, err := core.AfterCursor(filter, q.cursor)
	if err != nil || q.noContact {
		return Page{}, err
	}
	q.After, q.Limit = after, q.limit+1
	q.Received = keptSince(c.Now, c.Principal.Org.RetentionDays)
	rows, err := a.Store.Activities(ctx, c.Principal.Org.ID, q.Filter)
	if err != nil {
		return Page{}, err
	}
	place := func(a Activity) core.After { return core.After{At: a.OccurredAt, ID: a.ID} }
	return Page{core.PageOf(rows, q.limit, filter, place)}, nil
}

// text returns the filters of the query as text. Cursors contain the text, so that a cursor
// is refused with other filters than its own.
func (q query) text() string {
	return fmt.Sprintf("activities %q %q %s %s", q.Name, q.of, instant(q.From), instant(q.To))
}

func instant(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339Nano)
}
