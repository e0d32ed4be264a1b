package messages

import (
	"context"
	"embed"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// Path is the path of the page that searches messages. The page of one message is below it.
const Path = frame.Path + "/messages"

// Undeliverable reads entries of the list of undeliverable addresses.
type Undeliverable interface {
	// Entry returns an entry by its id. It fails with core.CodeNotFound for an unknown id.
	Entry(ctx context.Context, orgID, id string) (suppression.Entry, error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Undeliverable Undeliverable
}

// Messages has the pages about sent messages; see dashboard.Room.
type Messages struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Messages, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Messages{cfg, pages}, nil
}

// Routes returns the routes of the pages.
func (m *Messages) Routes() []frame.Route {
	return []frame.Route{
		{Path: "/messages", Needs: members.MayViewAnalytics, Get: m.showMessages},
		{Path: "/messages/{id}", Needs: members.MayViewAnalytics, Get: m.showMessage},
	}
}
