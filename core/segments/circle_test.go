package segments_test

import (
	"context"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
)

// isCycleError reports whether err is the error that Save returns for segments that test
// each other in a cycle.
func isCycleError(err error) bool {
	e := core.AsError(err)
	return e != nil && e.Code == core.CodeValidationFailed && len(e.Fields) == 1 &&
		e.Fields[0].Reason == "tests the segment itself, directly or through other segments"
}

// define saves a segment with the key and the predicate.
func define(ctx context.Context, s *segments.Segments, org, key, source string) error {
	_, err := s.Save(ctx, org, segments.Definition{Key: key, Name: key, Source: source, Origin: segments.Managed})
	return err
}

// TestCirclesThroughWhatDoesNotCompileAreRefused checks that Save refuses a cycle of
// segments even if one of them is invalid or archived. An invalid segment may compile again
// later, and then nothing searches for cycles.
func TestCirclesThroughWhatDoesNotCompileAreRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.save(t, "one", `has attr.mrr`)
		w.save(t, "two", `subscribed to "news" and in segment "one"`)
		w.topics(t, segments.Redefinition{GoneTopics: []string{"news"}})
		w.follow(t)
		if err := define(t.Context(), w.Segments, w.org, "one", `in segment "two"`); !isCycleError(err) {
			t.Errorf("a circle through an invalid segment: %v", err)
		}
		three := w.save(t, "three", `in segment "one"`)
		w.save(t, "four", `in segment "three"`)
		_, err := w.SetStatus(t.Context(), w.org, three.ID, segments.Archived)
		must(t, err)
		if err := define(t.Context(), w.Segments, w.org, "one", `in segment "four"`); !isCycleError(err) {
			t.Errorf("a circle through what tests an archived segment: %v", err)
		}
		w.topics(t, segments.Redefinition{}, sending.Topic{Name: "news", Default: sending.OptIn})
		w.put(t, "ann", map[string]any{"mrr": 1.0})
		w.follow(t)
		w.wantMembers(t, "two", "ann")
	})
}

// TestCirclesOfTwoSavesAtOnceAreRefused saves two definitions at once that form a cycle
// together. It checks that the later one is refused.
func TestCirclesOfTwoSavesAtOnceAreRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.save(t, "one", `has attr.mrr`)
		w.save(t, "two", `has attr.mrr`)
		first := segments.New(w.Config)
		store := &saving{Store: first.Store}
		store.before = func() {
			soon, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if err := define(soon, w.Segments, w.org, "two", `in segment "one"`); err == nil {
				t.Error("the second is saved while the first is under way")
			}
		}
		first.Store = store
		must(t, define(t.Context(), first, w.org, "one", `in segment "two"`))
		if err := define(t.Context(), w.Segments, w.org, "two", `in segment "one"`); !isCycleError(err) {
			t.Errorf("the second, once the first is saved: %v", err)
		}
	})
}

// saving is a store that calls a function at the start of the first call of UpdateSegment.
// The field before has this function.
type saving struct {
	segments.Store
	before func()
}

func (s *saving) UpdateSegment(ctx context.Context, orgID string, g segments.Segment) error {
	runOnce(&s.before)
	return s.Store.UpdateSegment(ctx, orgID, g)
}
