package intake

import (
	"maps"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
)

// Support has, for each classification of the records of a source, the last day with such
// records.
type Support map[figures.Classification]time.Time

// lowerAfter is the time after which a source gets a lower classification: nothing supported the
// higher one for so long.
const lowerAfter = 30 * 24 * time.Hour

// with returns the support with a further day. The result does not depend on the order of days,
// because files can be imported in any order.
func (s Support) with(c figures.Classification, day time.Time) Support {
	more := maps.Clone(s)
	if more == nil {
		more = Support{}
	}
	if day.After(more[c]) {
		more[c] = day
	}
	return more
}

// classification returns the first classification, as figures.Classification.Merge orders them,
// that days of the last 30 with records support.
func (s Support) classification() figures.Classification {
	var last time.Time
	for _, day := range s {
		if day.After(last) {
			last = day
		}
	}
	var first figures.Classification
	for c, day := range s {
		if !last.After(day.Add(lowerAfter)) {
			first = first.Merge(c)
		}
	}
	return first
}
