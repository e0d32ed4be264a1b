// Package measuring keeps what is known of the domains of domain authentication up to date, by
// jobs: it polls DNS about each domain, computes findings and events from what polls and
// reports state, and deletes what is too old.
//
// It reads no reports (package intake does), and decides nothing: the rules are in packages
// sources and timeline, and package lookup asks DNS. Findings and events are computed from all
// that is stored, each time anew. So the result does not depend on the order in which reports
// arrived, and a repetition changes nothing.
package measuring

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// Config has the dependencies of Measuring. All fields are required, unless their comments say
// otherwise.
type Config struct {
	Polls     PollStore
	Refreshes RefreshStore
	Purges    PurgeStore
	Enroller  Enroller
	Tokens    Tokens
	// Resolver asks DNS. Without one, domains are not polled.
	Resolver lookup.Resolver
	// IsPolled reports whether DNS is asked about the domains of an organization. Domains of a
	// simulated sending account are made up.
	IsPolled func(ctx context.Context, orgID string) (bool, error)
	// RowDays is the number of UTC days, today among them, for which the records of reports are
	// kept, and KeptDays that for figures.
	RowDays, KeptDays int
	Queue             jobs.Queue
	// Orgs returns the ids of all organizations.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
	// Random returns numbers from 0 to below 1, which spread polls in time. Nil means that of
	// the system.
	Random func() float64
}

// Enroller adds the verified sending domains of an organization that are not there yet.
type Enroller interface {
	Enrol(ctx context.Context, orgID string, now time.Time) error
}

// Tokens returns the DKIM tokens of each domain that is an identity of the sending account, by
// domain.
type Tokens interface {
	Tokens(ctx context.Context, orgID string, domains []string) (map[string][]string, error)
}

// Measuring has the jobs. It is safe for concurrent use.
type Measuring struct{ Config }

// New returns a Measuring.
func New(cfg Config) *Measuring {
	if cfg.Random == nil {
		cfg.Random = rand.Float64
	}
	return &Measuring{cfg}
}
