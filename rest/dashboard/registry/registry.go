package registry

import (
	"context"
	"embed"
	"slices"

	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// The paths of the pages.
const (
	AttributesPath = frame.Path + "/attributes"
	ActivitiesPath = frame.Path + "/activities"
	PropertiesPath = ActivitiesPath + "/properties"

	contactsPath = frame.Path + "/contacts"
	segmentsPath = frame.Path + "/segments"
)

// Attributes reads what no operation on attributes returns.
type Attributes interface {
	// PreviewDelete returns the effects that deleting an attribute would have.
	PreviewDelete(ctx context.Context, orgID, id string) (attributes.Effect, error)
	// PassProgress returns how far the conversion of the stored contacts is after a change.
	PassProgress(ctx context.Context, orgID string) (attributes.Progress, error)
}

// Activities reads what no operation on activities returns.
type Activities interface {
	// PreviewPropertyDelete returns the effects that ending the promotion of a property would
	// have.
	PreviewPropertyDelete(ctx context.Context, orgID, id string) (activities.Mutation, error)
	// DailyCounts returns the number of activities of each name on each of the last days, or
	// false if there are too many to count.
	DailyCounts(ctx context.Context, orgID string, retentionDays, days int) ([]activities.DayCount, bool, error)
	// ContactAddresses returns the addresses of contacts by id.
	ContactAddresses(ctx context.Context, orgID string, ids []string) (map[string]string, error)
}

// Segments returns the segments with the attributes and properties that they test.
type Segments interface {
	Uses(ctx context.Context, orgID string) ([]segments.Use, error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Attributes Attributes
	Activities Activities
	Segments   Segments
}

// Registry has the pages about attributes, promoted properties and activities; see
// dashboard.Room.
type Registry struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Registry, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Registry{cfg, pages}, nil
}

// The page handlers, grouped by what their pages show. Each has the fields and methods of
// Registry.
type (
	attributeHandlers struct{ *Registry }
	propertyHandlers  struct{ *Registry }
	activityHandlers  struct{ *Registry }
)

// Routes returns the routes of all pages of this package.
func (g *Registry) Routes() []frame.Route {
	return slices.Concat(attributeHandlers{g}.routes(), propertyHandlers{g}.routes(), activityHandlers{g}.routes())
}

// routes returns the routes of the pages about attributes.
func (h attributeHandlers) routes() []frame.Route {
	view, manage := members.MayViewContacts, members.MayManageAttributes
	return []frame.Route{
		{Path: "/attributes", Needs: view, Get: h.showAttributes},
		{Path: "/attributes/new", Needs: manage, Get: h.showNewAttribute, Post: h.createAttribute},
		{Path: "/attributes/{id}", Needs: view, Get: h.showAttribute},
		{Path: "/attributes/{id}/edit", Needs: manage, Get: h.showEditAttribute, Post: h.editAttribute},
		{Path: "/attributes/{id}/delete", Needs: manage, Get: h.showDeleteAttribute, Post: h.deleteAttribute},
	}
}

// routes returns the routes of the pages about promoted properties.
func (h propertyHandlers) routes() []frame.Route {
	view, manage := members.MayViewActivities, members.MayManageAttributes
	return []frame.Route{
		{Path: "/activities/properties", Needs: view, Get: h.showProperties},
		{Path: "/activities/properties/new", Needs: manage, Get: h.showNewProperty, Post: h.createProperty},
		{Path: "/activities/properties/{id}/edit", Needs: manage, Get: h.showEditProperty, Post: h.editProperty},
		{Path: "/activities/properties/{id}/end", Needs: manage, Get: h.showEndProperty, Post: h.endProperty},
	}
}

// routes returns the route of the page that lists activities.
func (h activityHandlers) routes() []frame.Route {
	return []frame.Route{{Path: "/activities", Needs: members.MayViewActivities, Get: h.showActivities}}
}
