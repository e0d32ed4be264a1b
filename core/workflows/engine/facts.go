package engine

import (
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// TimezoneAttribute is the attribute with the IANA timezone of a contact, such as
// "Europe/Paris". A contact without a valid value is in UTC.
const TimezoneAttribute = "timezone"

// Facts is what a run needs to know of its contact and its workflow. Advance changes Subject by
// the effects of steps, so that later steps see them.
type Facts struct {
	WorkflowID, ContactID string
	// Subject has the data that the conditions of the plan read, and the consent. nil means
	// that the contact was archived or deleted.
	Subject *predicate.Subject
	Now     time.Time
	// Hold is true if sends of the workflow wait for a person.
	Hold bool
	// Cap is the limit of messages to a contact that holds for workflows without one of
	// their own; nil for no limit.
	Cap *language.Cap
	// Mailed returns how many messages of workflows the contact got, or is to get, since the
	// time. It is called only for a send with a limit.
	Mailed func(since time.Time) int
}

// matches reports whether the contact matches the condition.
func (f Facts) matches(condition *predicate.Checked) bool {
	return condition != nil && condition.Match(*f.Subject, f.Now) == predicate.True
}

// location returns the timezone of the contact.
func (f Facts) location() *time.Location {
	zone := f.Subject.Attributes[TimezoneAttribute]
	if zone.Type != predicate.String || zone.Text == "" || zone.Text == "Local" {
		return time.UTC
	}
	if l := zones.load(zone.Text); l != nil {
		return l
	}
	return time.UTC
}

// moment returns the value of a datetime attribute, zero if the contact has none.
func (f Facts) moment(attribute string) time.Time {
	v := f.Subject.Attributes[attribute]
	if v.Type != predicate.Datetime {
		return time.Time{}
	}
	return time.UnixMicro(v.Moment.Micros).UTC()
}
