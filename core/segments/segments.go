package segments

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config has the dependencies of Segments. All fields are required, except those whose
// comment gives a default.
type Config struct {
	Store      Store
	Transactor core.Transactor
	// Suppressions reads the account's own list, which the sweep copies.
	Suppressions sending.Suppressions
	// Orgs returns every organization, for the jobs that visit all.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
	// PreviewTime bounds one preview; zero means [PreviewTime].
	PreviewTime time.Duration
	// PreviewSteps bounds the cost of one preview; zero means 40 million steps.
	PreviewSteps int
}

// PreviewTime is the default time limit of a preview.
const PreviewTime = 10 * time.Second

// Segments runs the operations of this package.
type Segments struct{ Config }

// New returns a Segments.
func New(cfg Config) *Segments {
	if cfg.PreviewTime == 0 {
		cfg.PreviewTime = PreviewTime
	}
	cfg.PreviewSteps = cmp.Or(cfg.PreviewSteps, previewSteps)
	return &Segments{cfg}
}

// Operations returns the operations of this package, in the order of the catalogue.
func (s *Segments) Operations() []core.Operation {
	return []core.Operation{
		s.segmentsList(), s.segmentsGet(), s.segmentsMembers(), s.segmentsCheckMember(), s.segmentsPreviewPredicate(),
	}
}
