package timeline

import "time"

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	// PolicyChange is a change of the DMARC record.
	PolicyChange Kind = "policy_change"
	// SetupChange is a change of another record that authenticates mail: SPF or a DKIM key.
	SetupChange Kind = "setup_change"
	// SourceDecisions is a decision about sources.
	SourceDecisions Kind = "source_decisions"
	// Acknowledgement is the acceptance of what a step of the policy costs.
	Acknowledgement Kind = "acknowledgement"
	// Note is a text that a person wrote.
	Note Kind = "note"
)

// ChangesMail reports whether an event of the kind can change how mail is authenticated or
// handled. Decisions and acknowledgements change only how the figures are read, and notes
// nothing.
func (k Kind) ChangesMail() bool { return k == PolicyChange || k == SetupChange }

// Origin is how a change became known.
type Origin string

// The origins of sightings and events.
const (
	// DNS is a poll of the record.
	DNS Origin = "dns"
	// Reports are reports of receivers.
	Reports Origin = "reports"
)

// Event is one event of the timeline.
type Event struct {
	// ID identifies the event. Events that [Fold] returns have the id of the sighting that
	// was observed first; of several, that of the earliest evidence.
	ID   string
	Kind Kind
	// Origin is DNS if any sighting is of DNS. It is empty for events without sightings.
	Origin Origin
	// Subject is the name of the changed record in DNS.
	Subject string
	// OccurredAt is when the change happened, as far as the evidence shows: the earliest time
	// at which the new record was seen. ObservedAt is when the service first knew of it.
	OccurredAt, ObservedAt time.Time
	// Sightings is the number of sightings.
	Sightings int
	// Old and New are the texts of the record before and after the change, verbatim if Origin
	// is DNS. They are nil where there was no record.
	Old, New *string
}

// Sighting is evidence of one change of one record.
type Sighting struct {
	// ID identifies the sighting. Sightings with the same id are the same one.
	ID     string
	Origin Origin
	// Kind is PolicyChange or SetupChange.
	Kind    Kind
	Subject string
	// Old and New are the texts of the record, nil for no record. A poll has them verbatim.
	// For a report they are written from the policy that it states, as a record.
	Old, New *string
	// OldSeenAt is the latest time at which the same origin saw the old record: the previous
	// poll. It is zero if that is unknown.
	OldSeenAt time.Time
	// NewSeenAt is the time by which the new record was there for certain: the time of the
	// poll, or the end of the date range of the report, whose receiver may have looked at any
	// time in it.
	NewSeenAt time.Time
	// ObservedAt is when the service got to know it: the time of the poll, or that at which
	// the report was read.
	ObservedAt time.Time
}

// evidence returns the time by which the change had happened. The end of a report's date
// range can be false, but a change cannot be known before it happens.
func (s Sighting) evidence() time.Time {
	if s.NewSeenAt.After(s.ObservedAt) {
		return s.ObservedAt
	}
	return s.NewSeenAt
}
