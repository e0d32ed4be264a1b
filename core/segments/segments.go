package segments

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config is what the package needs. All members are required.
type Config struct {
	Store      Store
	Transactor core.Transactor
	// Suppressions is the account's own list, which the sweep mirrors.
	Suppressions sending.Suppressions
	// Orgs lists every organization, for the jobs that visit all.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
	// PreviewTime bounds one preview; zero means [PreviewTime].
	PreviewTime time.Duration
	// PreviewSteps bounds what one preview may cost; zero means 200 million steps.
	PreviewSteps int
}

// PreviewTime is how long a preview may take.
const PreviewTime = 10 * time.Second

// Segments does the tasks of this package.
type Segments struct{ Config }

// New makes a Segments.
func New(cfg Config) *Segments {
	if cfg.PreviewTime == 0 {
		cfg.PreviewTime = PreviewTime
	}
	cfg.PreviewSteps = cmp.Or(cfg.PreviewSteps, previewSteps)
	return &Segments{cfg}
}

// Operations are the tasks, in the order of the catalogue.
func (s *Segments) Operations() []core.Operation {
	return []core.Operation{
		s.segmentsList(), s.segmentsGet(), s.segmentsMembers(), s.segmentsCheckMember(), s.segmentsPreviewPredicate(),
	}
}
