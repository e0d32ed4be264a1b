package segments

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

const (
	// previewSteps is the maximum number of steps of a preview. A step is the unit of cost
	// in [predicate.Weight]. SQLite takes longer for so many steps than the time limit of a
	// preview. PostgreSQL is about five times as fast, but has the same maximum of steps,
	// so that both engines accept the same predicates.
	previewSteps = 40_000_000
	// weighty is the smallest number of steps per row (event or contact) for which
	// checkPreviewCost counts the rows. For fewer steps, counting would cost as much as
	// evaluating the predicate. A predicate whose rows are not counted is limited only by
	// the time limit of the preview.
	weighty = 20
)

// checkPreviewCost fails with core.CodeValidationFailed if a predicate needs more steps
// than a preview may take. It runs before the query of the preview. It counts rows only up
// to the number that the limit allows, which takes a small part of the time of the query.
func (s *Segments) checkPreviewCost(ctx context.Context, q Question) error {
	weight := q.Predicate.Weigh()
	remaining := s.PreviewSteps
	spend := func(source *predicate.EventSource, steps int, what string) error {
		if steps < weighty {
			return nil
		}
		most := remaining / steps
		rows, err := s.Members.CountSource(ctx, q, source, most+1)
		if err != nil {
			return err
		}
		if rows > most {
			return s.tooExpensive(steps, rows, what)
		}
		remaining -= rows * steps
		return nil
	}
	for _, source := range weight.Sources {
		if err := spend(&source.Source, source.Steps, eventsOf(source.Source.Event)); err != nil {
			return err
		}
	}
	return spend(nil, weight.Contact, "contacts")
}

func (s *Segments) tooExpensive(steps, rows int, what string) error {
	return core.Invalid("source", fmt.Sprintf("takes %s steps for each of at least %s rows (%s), and a preview may take %s steps in all",
		core.WithCommas(steps), core.WithCommas(rows), what, core.WithCommas(s.PreviewSteps))).
		WithNext("Use fewer text searches, which take 4 steps each, test fewer events, or test a shorter window.")
}

// eventsOf returns a description of the events that e selects, such as "open events", for
// an error message. The description contains no text that the caller sent.
func eventsOf(e predicate.Event) string {
	if e.Kind == predicate.ActivityEvent {
		return "activities of one name"
	}
	return e.Kind.String() + " events"
}
