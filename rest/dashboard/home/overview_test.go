package home_test

import (
	"context"
	"flag"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/home"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// stock is a store with an active and a revoked API key and an OAuth client. It also has a
// grant of the visitor and a grant of another member.
type stock struct{ visitor string }

func (stock) APIKeysOf(context.Context, string) ([]access.APIKey, error) {
	ended := frametest.Now()
	return []access.APIKey{{ID: "1"}, {ID: "2", RevokedAt: &ended}}, nil
}

func (stock) ClientsOf(context.Context, string) ([]access.Client, error) {
	return []access.Client{{ID: "3"}}, nil
}

func (s stock) Grants(_ context.Context, _, userID string, _ int) ([]access.Grant, error) {
	grants := []access.Grant{{ID: "4", UserID: s.visitor}, {ID: "5", UserID: "other"}}
	if userID != "" {
		return grants[:0], nil
	}
	return grants, nil
}

func (stock) Members(context.Context, string) ([]members.Member, error) {
	return []members.Member{{UserID: "visitor"}, {UserID: "other"}}, nil
}

func (stock) FactorsOf(context.Context, string) (people.Factors, error) { return people.Factors{}, nil }

func TestGoldenOverview(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	o := frametest.NewOffice(t, frametest.Database{Transactor: db, Orgs: db.Orgs(), Users: db.Users(), Audit: db.Audit(), Members: db.Members()})
	has := stock{o.User.ID}
	room, err := home.New(o.Frame, home.Config{
		Keys: has, Clients: has, Grants: has, Members: has, Factors: has, Clock: core.Clock(frametest.Now),
		Links: home.Links{
			Keys: "/dashboard/keys", NewKey: "/dashboard/keys/new", Clients: "/dashboard/clients", Grants: "/dashboard/grants", Members: "/dashboard/members",
		},
		APIURL: "https://api.example", MCPURL: "https://mcp.example", AuthURL: "https://auth.example",
	})
	o.Must(err)
	frametest.CheckPages(t, room.Pages)
	pages, err := o.Frame.Mux(room.Routes())
	o.Must(err)
	_, page := frametest.Get(t, pages, frame.Path)
	frametest.CompareGolden(t, "overview", page, *update)
	o.Allow(members.MayViewLists)
	_, page = frametest.Get(t, pages, frame.Path)
	frametest.CompareGolden(t, "overview_of_member", page, *update)
}
