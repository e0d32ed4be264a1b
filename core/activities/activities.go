package activities

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// DefaultVolume is the default limit of activities that an organization may record per
// minute.
const DefaultVolume = 2000

// Config configures [Activities]. A field may be nil only if its comment says what nil
// means; all others are required.
type Config struct {
	Store      Store
	Properties PropertyStore
	Clock      core.Clock
	Log        *slog.Logger

	// Admit takes up to n activities from the organization's limit per minute and returns
	// how many it took. The rest are refused as rate_limited. nil admits all activities. An
	// error also admits all, because a failing counter must not stop callers.
	Admit func(ctx context.Context, orgID string, n int) (int, error)
	// OnChange is called with the contacts that have new activities, in the transaction that
	// stores the activities. If OnChange is nil, changes are not reported.
	OnChange func(ctx context.Context, orgID string, contactIDs []string) error
	// OnRecord is called with new activities, in the transaction that stores them. If it is
	// nil, they are not reported.
	OnRecord func(ctx context.Context, orgID string, recorded []Activity) error
	// AffectedSegments returns the segments that a disruptive change of a promoted property
	// affects. It is called before the change is stored, in the same transaction, and for
	// previews. nil means that no segment depends on properties.
	AffectedSegments func(ctx context.Context, orgID string, change PropertyChange) ([]AffectedSegment, error)
}

// Activities has the operations on activities. Those on promoted properties are in
// [propertyOperations].
type Activities struct{ Config }

// propertyOperations has the operations on promoted properties, with their helper methods.
type propertyOperations struct{ Config }

// New returns an Activities.
func New(cfg Config) *Activities { return &Activities{Config: cfg} }

// Operations returns the operations of this package, in the order of the operation
// catalogue.
func (a *Activities) Operations() []core.Operation {
	o := propertyOperations{a.Config}
	return []core.Operation{
		a.activitiesRecord(),
		a.activitiesList(),
		a.contactsListActivities(),
		a.contactsSummarizeActivities(),
		o.propertiesList(),
		o.propertiesGet(),
		o.propertiesCreate(),
		o.propertiesReplace(),
		o.propertiesDelete(),
		o.propertiesPreview(),
	}
}

// report reports new activities and the contacts that have them.
func (a *Activities) report(ctx context.Context, orgID string, recorded []Activity, contactIDs []string) error {
	if a.OnRecord != nil {
		if err := a.OnRecord(ctx, orgID, recorded); err != nil {
			return err
		}
	}
	if a.OnChange == nil || len(contactIDs) == 0 {
		return nil
	}
	return a.OnChange(ctx, orgID, contactIDs)
}

// Record stores an activity that Mailhelm itself observed, such as site_identified, with
// the source "site". It takes part in the transaction of ctx. The contact must belong to
// the organization.
func (a *Activities) Record(ctx context.Context, orgID, contactID, name string, at time.Time) error {
	activity := Activity{
		ID: core.NewID(), ContactID: contactID, Name: name, OccurredAt: at, ReceivedAt: at,
		Source: FromSite, Properties: noProperties,
	}
	if err := a.Store.Insert(ctx, orgID, []Activity{activity}); err != nil {
		return err
	}
	return a.report(ctx, orgID, []Activity{activity}, []string{contactID})
}
