package activities

import "context"

// MutationClass is the effect that a change of a promoted property has on predicates.
type MutationClass string

// The mutation classes of properties.
const (
	// Free is a change without effect on predicates, such as another description.
	Free MutationClass = "free"
	// Disruptive is a change of the activity name, the property or the type, or a deletion.
	// Existing predicates then find other values or none.
	Disruptive MutationClass = "disruptive"
)

// PropertyChange is a change of a promoted property. After is nil for a deletion.
type PropertyChange struct {
	Before Property
	After  *Property
	// Preview is true if the change is only previewed. The function Config.AffectedSegments
	// must then store nothing.
	Preview bool
	// Dropout is the number of active contacts with a value that predicates find before the
	// change but not after it; see [Impact].
	Dropout int
}

// Class returns whether the change is Free or Disruptive.
func (c PropertyChange) Class() MutationClass {
	if c.After != nil && c.Before.ActivityName == c.After.ActivityName && c.Before.Property == c.After.Property && c.Before.Type == c.After.Type {
		return Free
	}
	return Disruptive
}

// Impact is the effect of a disruptive change of a promoted property on segments and
// contacts.
type Impact struct {
	AffectedSegments []AffectedSegment `json:"affected_segments"`
	ProjectedDropout int               `json:"projected_dropout" jsonschema:"minimum=0" jsonschema_description:"Active contacts with an activity whose value existing predicates no longer match."`
}

// AffectedSegment is a segment whose predicate tests the changed property. If the predicate
// no longer compiles after the change, the segment becomes invalid and keeps its members.
type AffectedSegment struct {
	ID          string `json:"id" jsonschema:"format=uuid"`
	Name        string `json:"name" voice:"untrusted"`
	TypecheckOK bool   `json:"typecheck_ok" jsonschema_description:"Whether the segment's predicate still compiles."`
	Warning     string `json:"warning" voice:"untrusted"`
}

// Mutation has the class of a change of a promoted property (free or disruptive). For a
// disruptive change it also has the effects on segments and contacts.
type Mutation struct {
	MutationClass MutationClass `json:"mutation_class" jsonschema:"enum=free,enum=disruptive"`
	Impact        *Impact       `json:"impact,omitempty" jsonschema_description:"Further effects; present only for a disruptive change."`
}

// mutation returns the class and the effects of the change. known is the number of contacts
// that lose a value, if it was counted before the transaction. If known is nil, mutation
// counts these contacts.
func (o propertyOperations) mutation(ctx context.Context, orgID string, change PropertyChange, known *int) (Mutation, error) {
	m := Mutation{MutationClass: change.Class()}
	if m.MutationClass == Free {
		return m, nil
	}
	if known != nil {
		change.Dropout = *known
	} else {
		var err error
		if change.Dropout, err = o.dropout(ctx, orgID, change); err != nil {
			return Mutation{}, err
		}
	}
	m.Impact = &Impact{AffectedSegments: []AffectedSegment{}, ProjectedDropout: change.Dropout}
	if o.AffectedSegments == nil {
		return m, nil
	}
	affected, err := o.AffectedSegments(ctx, orgID, change)
	m.Impact.AffectedSegments = append(m.Impact.AffectedSegments, affected...)
	return m, err
}

func (o propertyOperations) dropout(ctx context.Context, orgID string, change PropertyChange) (int, error) {
	if change.Class() == Free {
		return 0, nil
	}
	stays := PropertyType("")
	if change.After != nil && change.After.ActivityName == change.Before.ActivityName && change.After.Property == change.Before.Property {
		stays = change.After.Type
	}
	return o.Properties.CountDropout(ctx, orgID, change.Before, stays)
}

// impactCount is the number of contacts that lose a value through a change of a promoted
// property. Counting reads all activities with the property's activity name. It happens
// before the transaction, where it does not delay other writes. before is the property at
// the time of the count.
type impactCount struct {
	before Property
	lost   int
}

func (o propertyOperations) count(ctx context.Context, orgID string, change PropertyChange) (*impactCount, error) {
	lost, err := o.dropout(ctx, orgID, change)
	return &impactCount{change.Before, lost}, err
}

// dropout returns the number of contacts that lose values by the change, as counted before.
// It returns nil if the property has changed since the count.
func (c *impactCount) dropout(now Property) *int {
	if c == nil || c.before.ActivityName != now.ActivityName || c.before.Property != now.Property || c.before.Type != now.Type {
		return nil
	}
	return &c.lost
}
