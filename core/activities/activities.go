package activities

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// DefaultVolume is how many items a minute an organization may send.
const DefaultVolume = 2000

// Config is what the package needs. All members are required, unless they say
// what nil means.
type Config struct {
	Store Store
	Clock core.Clock
	Log   *slog.Logger

	// Admit takes up to n items from the organization's allowance for a minute, and
	// returns how many it took; nil admits all. After an error all items are admitted: a
	// counter that fails must not stop callers.
	Admit func(ctx context.Context, orgID string, n int) (int, error)
	// Changed is called in the transaction of the write with the contacts of new
	// activities; nil does nothing.
	Changed func(ctx context.Context, orgID string, contactIDs []string) error
	// Affected returns the segments that a disruptive change to a promoted property
	// affects. It is called in the transaction of the change or before it; nil means that
	// nothing depends on properties.
	Affected func(ctx context.Context, orgID string, change PropertyChange) ([]AffectedSegment, error)
}

// Activities does the tasks of this package.
type Activities struct{ Config }

// New makes an Activities.
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
	if a.Changed == nil || len(contactIDs) == 0 {
		return nil
	}
	return a.Changed(ctx, orgID, contactIDs)
}

// Record stores an activity of Mailhelm's own, such as site_identified, in the transaction
// of its context. The contact belongs to the organization.
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
