package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Fold returns the events that sightings are evidence of, sorted by OccurredAt, then by Kind,
// Subject and ID. The result does not depend on the order of the sightings, so storage keeps
// the sightings and folds those of a subject again whenever one is added.
//
// Sightings are of one event if they have the same kind and subject and the same transition,
// and if no sighting shows that the record returned between them to what it was before. The
// transition of a policy change is that of the tags that all formats of reports state: p,
// sp, adkim and aspf, an absent sp being p. If these do not change, and for a setup change,
// it is the change of the text. A sighting is ignored if its texts are equal, and if it is of
// a report in which these tags are.
//
// OccurredAt of an event is not before the OldSeenAt of its earliest sighting of DNS: the
// poll had found the old record then, whatever date ranges reports have. It is never after
// ObservedAt. Old and New are those of its earliest sighting of DNS, or without one those of
// its earliest sighting.
//
// A receiver that states an old policy after a return is not told from a second change.
func Fold(sightings []Sighting) []Event {
	type key struct {
		kind    Kind
		subject string
	}
	records := map[key][]change{}
	for _, c := range changesOf(sightings) {
		k := key{c.Kind, c.Subject}
		records[k] = append(records[k], c)
	}
	var events []Event
	for _, all := range records {
		for _, same := range separate(all) {
			events = append(events, eventOf(same))
		}
	}
	slices.SortFunc(events, func(a, b Event) int {
		return cmp.Or(a.OccurredAt.Compare(b.OccurredAt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.ID, b.ID))
	})
	return events
}

// change is a sighting with what it shows.
type change struct {
	Sighting
	// from and to are the states of the record before and after the change.
	from, to state
}

// state is one state of a record. Two records are in the same state with regard to a change
// of the policy if their policies are equal, otherwise if their texts are.
type state struct{ policy, text string }

// stateOf returns the state of a record.
func stateOf(kind Kind, text *string) state {
	if text == nil {
		return state{policy: "absent", text: "absent"}
	}
	s := state{text: "text " + *text}
	s.policy = s.text
	if kind != PolicyChange {
		return s
	}
	if r, err := dmarc.Parse(*text); err == nil {
		s.policy = "policy " + string(r.Policy) + " " + string(r.PolicyFor(true, true)) + " " + string(r.DKIMAlignment) + " " + string(r.SPFAlignment)
	}
	return s
}

// changesPolicy reports whether the reported tags change.
func (c change) changesPolicy() bool { return c.from.policy != c.to.policy }

// beginsAt reports whether a state is the one before the change.
func (c change) beginsAt(s state) bool {
	if c.changesPolicy() {
		return c.from.policy == s.policy
	}
	return c.from.text == s.text
}

// transition returns what changed, equal for sightings of the same change.
func (c change) transition() [2]string {
	if c.changesPolicy() {
		return [2]string{c.from.policy, c.to.policy}
	}
	return [2]string{c.from.text, c.to.text}
}

// changesOf returns the sightings that show a change, each once, sorted by their evidence.
func changesOf(sightings []Sighting) []change {
	var all []change
	for _, s := range sightings {
		c := change{s, stateOf(s.Kind, s.Old), stateOf(s.Kind, s.New)}
		if c.from.text != c.to.text && (s.Origin == DNS || c.changesPolicy()) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b change) int {
		return cmp.Or(a.evidence().Compare(b.evidence()), cmp.Compare(a.ID, b.ID))
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(c change) bool {
		again := seen[c.ID]
		seen[c.ID] = true
		return again
	})
}

// separate divides the sorted changes of one record into those of each event.
func separate(all []change) [][]change {
	var events [][]change
	latest := map[[2]string]int{}
	for _, c := range all {
		at, seen := latest[c.transition()]
		if !seen || returned(all, c, events[at][len(events[at])-1].evidence(), c.evidence()) {
			at = len(events)
			latest[c.transition()] = at
			events = append(events, nil)
		}
		events[at] = append(events[at], c)
	}
	return events
}

// returned reports whether a sighting between two times, neither of which counts, shows that
// the record returned to its state before the change c.
func returned(all []change, c change, after, before time.Time) bool {
	first, _ := slices.BinarySearchFunc(all, after, func(other change, t time.Time) int {
		if other.evidence().After(t) {
			return 1
		}
		return -1
	})
	for _, other := range all[first:] {
		if !other.evidence().Before(before) {
			return false
		}
		if c.beginsAt(other.to) {
			return true
		}
	}
	return false
}

// eventOf returns the event of the sorted changes, at least one.
func eventOf(all []change) Event {
	known, shown := all[0], all[0]
	for _, c := range all {
		if c.ObservedAt.Before(known.ObservedAt) {
			known = c
		}
		if shown.Origin != DNS && c.Origin == DNS {
			shown = c
		}
	}
	occurred := all[0].evidence()
	if shown.Origin == DNS && shown.OldSeenAt.After(occurred) && shown.OldSeenAt.Before(shown.evidence()) {
		occurred = shown.OldSeenAt
	}
	if occurred.After(known.ObservedAt) {
		occurred = known.ObservedAt
	}
	return Event{
		ID: known.ID, Kind: shown.Kind, Origin: shown.Origin, Subject: shown.Subject,
		OccurredAt: occurred, ObservedAt: known.ObservedAt, Sightings: len(all), Old: shown.Old, New: shown.New,
	}
}
