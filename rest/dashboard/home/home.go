package home

import (
	"context"
	"embed"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// Keys lists an organization's API keys, including expired and revoked ones.
type Keys interface {
	APIKeysOf(ctx context.Context, orgID string) ([]access.APIKey, error)
}

// Clients lists the OAuth clients that an organization registered, including revoked ones.
type Clients interface {
	ClientsOf(ctx context.Context, orgID string) ([]access.Client, error)
}

// Grants lists the access that people granted to applications.
type Grants interface {
	// Grants returns at most limit active grants: of one person, or of all people for "".
	Grants(ctx context.Context, orgID, userID string, limit int) ([]access.Grant, error)
}

// Members lists the members of an organization.
type Members interface {
	Members(ctx context.Context, orgID string) ([]members.Member, error)
}

// Factors returns the second factors that a person has set up.
type Factors interface {
	FactorsOf(ctx context.Context, userID string) (people.Factors, error)
}

// Links are the paths of the pages to which the overview links.
type Links struct{ Keys, NewKey, Clients, Grants, Members string }

// Config is what the room needs. All members are required.
type Config struct {
	Keys    Keys
	Clients Clients
	Grants  Grants
	Members Members
	Factors Factors
	Links   Links
	// APIURL, MCPURL and AuthURL are the origins that the overview shows for copying.
	APIURL, MCPURL, AuthURL string
	Clock                   core.Clock
}

// Home is the room with the overview.
type Home struct {
	Config
	*frame.Pages
}

// New returns the room.
func New(f *frame.Frame, cfg Config) (*Home, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Home{cfg, pages}, nil
}

// Routes returns the room's route table.
func (h *Home) Routes() []frame.Route {
	return []frame.Route{{Path: "", Get: h.showOverview}}
}
