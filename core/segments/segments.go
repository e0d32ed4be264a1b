package segments

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config has the dependencies of [Segments]. All fields are required, except those whose
// comment gives a default.
type Config struct {
	Store      Store
	Members    MemberStore
	Changes    ChangeStore
	Transactor core.Transactor
	// Suppressions reads the sending account's suppression list, which the job of
	// SweepWorker copies.
	Suppressions sending.Suppressions
	// OnMembers is called with the ids of contacts that entered and left a segment, in the
	// transaction that stores it. If OnMembers is nil, members are not reported.
	OnMembers func(ctx context.Context, orgID, segmentID string, entered, left []string, at time.Time) error
	// Orgs returns the ids of all organizations, for the periodic jobs.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
	// PreviewTime is the time limit of one preview; zero means [PreviewTime].
	PreviewTime time.Duration
	// PreviewSteps is the maximum number of steps of one preview; zero means 40 million. See
	// [predicate.Weight].
	PreviewSteps int
}

// PreviewTime is the default time limit of a preview of a predicate.
const PreviewTime = 10 * time.Second

// Segments has the operations on segments, and the jobs that update their members. It has
// many methods because each operation, each job, and each change that other packages report
// has one. [Author] has the reads that only editors need.
type Segments struct {
	Config
	refreshed refreshes
}

// New returns a Segments.
func New(cfg Config) *Segments {
	if cfg.PreviewTime == 0 {
		cfg.PreviewTime = PreviewTime
	}
	cfg.PreviewSteps = cmp.Or(cfg.PreviewSteps, previewSteps)
	return &Segments{Config: cfg}
}

// Operations returns the operations of this package, in the order of the operation
// catalogue.
func (s *Segments) Operations() []core.Operation {
	return []core.Operation{
		s.segmentsList(), s.segmentsGet(), s.segmentsMembers(), s.segmentsCheckMember(), s.segmentsPreviewPredicate(),
	}
}
