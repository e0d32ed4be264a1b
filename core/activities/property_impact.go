package activities

import "context"

// MutationClass says what a change does to what is built on a definition.
type MutationClass string

// The mutation classes of properties.
const (
	// Free changes nothing that is evaluated.
	Free MutationClass = "free"
	// Disruptive is a rename, another type, or the end of the definition.
	Disruptive MutationClass = "disruptive"
)

// PropertyChange is a change to a promoted property. After is nil for one that ends.
type PropertyChange struct {
	Before Property
	After  *Property
	// Preview is set when the change is only asked about: nothing may be stored.
	Preview bool
}

// Class is what the change does.
func (c PropertyChange) Class() MutationClass {
	if c.After != nil && c.Before.ActivityName == c.After.ActivityName && c.Before.Property == c.After.Property && c.Before.Type == c.After.Type {
		return Free
	}
	return Disruptive
}

// Impact is what a disruptive change does to segments.
type Impact struct {
	AffectedSegments []AffectedSegment `json:"affected_segments"`
	ProjectedDropout int               `json:"projected_dropout" jsonschema_description:"Contacts that leave segments by it."`
}

// AffectedSegment is a segment whose predicate names the property. It goes on being
// evaluated as well as it can be, with a warning.
type AffectedSegment struct {
	ID          string `json:"id" jsonschema:"format=uuid"`
	Name        string `json:"name" voice:"untrusted"`
	TypecheckOK bool   `json:"typecheck_ok" jsonschema_description:"Whether its predicate still compiles."`
	Warning     string `json:"warning" voice:"untrusted"`
}

// Mutation is what a change does.
type Mutation struct {
	MutationClass MutationClass `json:"mutation_class" jsonschema:"enum=free,enum=disruptive"`
	Impact        *Impact       `json:"impact,omitempty" jsonschema_description:"What else changes; with a disruptive change alone."`
}

func (a *Activities) mutation(ctx context.Context, orgID string, change PropertyChange) (Mutation, error) {
	m := Mutation{MutationClass: change.Class()}
	if m.MutationClass == Free {
		return m, nil
	}
	m.Impact = &Impact{}
	if a.Affected != nil {
		impact, err := a.Affected(ctx, orgID, change)
		if err != nil {
			return Mutation{}, err
		}
		m.Impact = &impact
	}
	if m.Impact.AffectedSegments == nil {
		m.Impact.AffectedSegments = []AffectedSegment{}
	}
	return m, nil
}
