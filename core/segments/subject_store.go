package segments

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// SubjectStore reads contacts for code that evaluates predicates one contact at a time, and
// finds the contacts that match a predicate. Every method sees only the given organization
// and takes part in the transaction of ctx.
type SubjectStore interface {
	// Subjects returns the data that predicates read of the contacts in q.Contacts, by the
	// ids of the contacts. The map contains only active contacts of the organization. It
	// runs at most six statements for any number of contacts.
	//
	// For a predicate whose references are in q.Refs, Match of a subject is True if and only
	// if Matching finds the contact. If q.Since is set, this holds only for predicates that
	// read no earlier events.
	Subjects(ctx context.Context, q SubjectQuery) (map[string]predicate.Subject, error)
	// Matching returns the ids of the contacts that match the predicate of q, sorted. It
	// returns only ids greater than after, which is "" for the first page, and at most limit
	// ids; a limit of 0 means no limit.
	Matching(ctx context.Context, q Question, after string, limit int) ([]string, error)
}

// SubjectQuery says which data of which contacts SubjectStore.Subjects reads. It always reads
// the address and the consent: all topic choices, the global opt-out, whether the contact is
// a stub, and whether the address is suppressed.
type SubjectQuery struct {
	OrgID string
	// Contacts has the ids of the contacts. An id may occur several times.
	Contacts []string
	// Schema is the result of Store.PredicateSchema. It has the types of attributes and
	// properties. A value of another type is absent from the result.
	Schema Schema
	// Refs has the parts of the contacts to read: attributes, lists, segments, kinds of
	// events, and registered properties of activities. Events also have all built-in
	// properties. For several predicates, use predicate.Union.
	Refs predicate.References
	// AllAttributes selects all attributes of the schema, and not only those in Refs.
	AllAttributes bool
	// Since excludes events that occurred before this time. The zero time excludes none.
	Since time.Time
}
