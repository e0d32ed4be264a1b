package segments

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

const (
	// previewSteps is the greatest number of steps of a preview; see [predicate.Weight].
	// SQLite takes longer for that many than the time limit of a preview. PostgreSQL is
	// some five times as fast and has the same bound, so that both accept the same
	// predicates.
	previewSteps = 40_000_000
	// weighty is the number of steps per event, or per contact, from which rows are
	// counted first. A cheaper predicate would need so many rows that counting them
	// costs as much as evaluating it; the time limit of the preview bounds it.
	weighty = 20
)

// affordable refuses a predicate that cannot be evaluated within the time limit of a
// preview, before the query starts. It counts rows only up to the number that the limit
// allows, which takes a small part of the time of the evaluation.
func (s *Segments) affordable(ctx context.Context, q Question) error {
	weight := q.Predicate.Weigh()
	left := s.PreviewSteps
	spend := func(source *predicate.EventSource, steps int, what string) error {
		if steps < weighty {
			return nil
		}
		most := left / steps
		rows, err := s.Store.CountSource(ctx, q, source, most+1)
		if err != nil {
			return err
		}
		if rows > most {
			return s.tooExpensive(steps, rows, what)
		}
		left -= rows * steps
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
	return core.Invalid("source", fmt.Sprintf("takes %s steps for each of at least %s rows (%s), and a preview has %s",
		withCommas(steps), withCommas(rows), what, withCommas(s.PreviewSteps))).
		WithNext("Search in fewer texts, which takes 4 steps each, test fewer events, or test a shorter window.")
}

// eventsOf returns a name for events that repeats no text of the caller.
func eventsOf(e predicate.Event) string {
	if e.Kind == predicate.ActivityEvent {
		return "activities of one name"
	}
	return e.Kind.String() + " events"
}

// withCommas returns a number with commas between thousands.
func withCommas(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
