package activities

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// DefaultVolume is the number of items per minute that an organization may send.
const DefaultVolume = 2000

// Config configures the package. All members are required, unless their comments say what
// nil means.
type Config struct {
	Store Store
	Clock core.Clock
	Log   *slog.Logger

	// Admit takes up to n items from the organization's allowance per minute and returns how
	// many it took. nil admits all items. An error also admits all items, because a failing
	// counter must not stop callers.
	Admit func(ctx context.Context, orgID string, n int) (int, error)
	// OnChange is called in the transaction of the write with the contacts of new
	// activities; nil does nothing.
	OnChange func(ctx context.Context, orgID string, contactIDs []string) error
	// AffectedSegments returns the segments that a disruptive change of a promoted property
	// affects. It is called in the transaction of the change or before it. nil means that
	// nothing depends on properties.
	AffectedSegments func(ctx context.Context, orgID string, change PropertyChange) ([]AffectedSegment, error)
}

// Activities has the operations of this package.
type Activities struct{ Config }

// New returns an Activities.
func New(cfg Config) *Activities { return &Activities{Config: cfg} }

// Operations returns the operations, in the order of the catalogue.
func (a *Activities) Operations() []core.Operation {
	return []core.Operation{
		a.activitiesRecord(),
		a.activitiesList(),
		a.contactsListActivities(),
		a.contactsSummarizeActivities(),
		a.propertiesList(),
		a.propertiesGet(),
		a.propertiesCreate(),
		a.propertiesReplace(),
		a.propertiesDelete(),
		a.propertiesPreview(),
	}
}

func (a *Activities) noteChanged(ctx context.Context, orgID string, contactIDs []string) error {
	if a.OnChange == nil || len(contactIDs) == 0 {
		return nil
	}
	return a.OnChange(ctx, orgID, contactIDs)
}

// Record stores an activity that Mailhelm itself observed, such as site_identified, in the
// transaction of its context. The contact must belong to the organization.
func (a *Activities) Record(ctx context.Context, orgID, contactID, name string, at time.Time) error {
	activity := Activity{
		ID: core.NewID(), ContactID: contactID, Name: name, OccurredAt: at, ReceivedAt: at,
		Source: FromSite, Properties: noProperties,
	}
	if err := a.Store.Insert(ctx, orgID, []Activity{activity}); err != nil {
		return err
	}
	return a.noteChanged(ctx, orgID, []string{contactID})
}
