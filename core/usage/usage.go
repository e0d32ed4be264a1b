package usage

import (
	"context"
	"time"
)

// Outcome is how a call ended.
type Outcome int

// The outcomes of calls.
const (
	Done      Outcome = iota // with a result
	Confirmed                // with a result, after a person confirmed the effect
	Asked                    // with a preview, for a person to confirm
	Refused                  // with an error that the caller can correct
	Failed                   // with an error of Mailhelm or of the sending account
)

// Call is one finished call.
type Call struct {
	OrgID string
	// ClientID is the public client id of the OAuth client, such as oc_live_... or the URL of
	// a metadata document.
	ClientID string
	UserID   string // "" for a client without a person
	// Operation is the name of the operation, "" if the request named none or an unknown one.
	Operation string
	Outcome   Outcome
	At        time.Time
}

// Counts are numbers of calls. Calls is the number of all; the others are a part of it.
type Counts struct {
	Calls, Confirmed, Asked, Refused, Failed int64
	LastAt                                   time.Time // time of the last call
}

// add adds one call with this outcome and time.
func (c *Counts) add(o Outcome, at time.Time) {
	c.Calls++
	switch o {
	case Confirmed:
		c.Confirmed++
	case Asked:
		c.Asked++
	case Refused:
		c.Refused++
	case Failed:
		c.Failed++
	}
	if at.After(c.LastAt) {
		c.LastAt = at
	}
}

// merge adds other counts.
func (c *Counts) merge(o Counts) {
	c.Calls += o.Calls
	c.Confirmed += o.Confirmed
	c.Asked += o.Asked
	c.Refused += o.Refused
	c.Failed += o.Failed
	if o.LastAt.After(c.LastAt) {
		c.LastAt = o.LastAt
	}
}

// Row has the counts of one client, person and operation. Day is the midnight of a UTC day;
// it is zero in a sum over several days.
type Row struct {
	OrgID, ClientID, UserID, Operation string
	Day                                time.Time
	Counts
}

// Filter selects rows of one organization. UserID "" selects all people and calls without a
// person. ClientID "" selects all clients.
type Filter struct {
	UserID, ClientID string
	// Since is the first day.
	Since time.Time
	// Totals adds up the calls of all operations. The rows then have no operation.
	Totals bool
	// Limit is the maximum number of rows.
	Limit int
}

// Store stores counts.
type Store interface {
	// AddUsage adds the counts of the rows in one transaction. The rows must be sorted by
	// organization, client, person, operation and day, so that concurrent transactions lock
	// them in the same order.
	AddUsage(ctx context.Context, rows []Row) error
	// Usage returns the sums over all days of the filter by client, person and operation, or
	// by client and person with [Filter].Totals. The rows with the most calls come first.
	Usage(ctx context.Context, orgID string, f Filter) ([]Row, error)
}
