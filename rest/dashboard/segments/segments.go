package segments

import (
	"context"
	"embed"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// Path is the path of the list of segments. The other pages are below it.
const Path = frame.Path + "/segments"

const newPath = Path + "/new"

// Definitions changes segments. Each method fails as in core/segments.
type Definitions interface {
	Create(ctx context.Context, orgID string, d segments.Definition) (segments.Segment, error)
	Save(ctx context.Context, orgID string, d segments.Definition) (segments.Segment, error)
	SetStatus(ctx context.Context, orgID, id string, status segments.Status) (segments.Segment, error)
}

// Author reads segments and reviews predicates; see [segments.Author].
type Author interface {
	Find(ctx context.Context, orgID string, f segments.Filter, cursor string, limit int) (core.Page[segments.Segment], error)
	Segment(ctx context.Context, orgID, ref string) (segments.Segment, error)
	Review(ctx context.Context, org core.Org, key, source string) (segments.Review, error)
	Names(ctx context.Context, orgID string) (predicate.Schema, error)
	Dependents(ctx context.Context, orgID, key string) ([]segments.Segment, error)
	Sizes(ctx context.Context, orgID, segmentID string, days int) ([]segments.Size, error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Definitions Definitions
	Author      Author
}

// Segments has the pages about segments; see dashboard.Room.
type Segments struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Segments, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Segments{cfg, pages}, nil
}

// Routes returns the routes of the pages.
func (h *Segments) Routes() []frame.Route {
	return []frame.Route{
		{Path: "/segments", Needs: members.MayViewSegments, Get: h.showSegments},
		{Path: "/segments/new", Needs: members.MayManageSegments, Get: h.showNew, Post: h.createSegment},
		{Path: "/segments/{id}", Needs: members.MayViewSegments, Get: h.showSegment},
		{Path: "/segments/{id}/edit", Needs: members.MayManageSegments, Get: h.showEdit, Post: h.editSegment},
		{Path: "/segments/{id}/{change}", Needs: members.MayManageSegments, Get: h.showChange, Post: h.changeStatus},
	}
}
