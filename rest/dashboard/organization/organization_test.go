package organization_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/organization"
	"github.com/mailhelm/mailhelm/storage"
)

// office is an organization with one channel and a sending account in the provider's
// sandbox.
type office struct {
	*frametest.Office
	db      *storage.DB
	config  organization.Config
	pages   http.Handler
	members members.Memberships
	// signedIn makes Visitor treat requests to the page of an invitation as signed in.
	signedIn bool
}

func newOffice(t *testing.T, db *storage.DB) *office {
	t.Helper()
	master, err := signing.NewMasterKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	o := &office{db: db, signedIn: true, members: members.Memberships{
		Orgs: db.Orgs(), Members: db.Members(), Invitations: db.Invitations(), Users: db.Users(), Grants: db.Grants(), Audit: db.Audit(),
		Transactor: db, Clock: frametest.Now,
	}}
	stores := frametest.DatabaseOf(db)
	stores.Membership = o.members
	o.Office = frametest.NewOffice(t, stores, frame.Area{Path: organization.AccountPath}, frame.Area{Path: organization.MembersPath}, frame.Area{Path: organization.AuditPath}, frame.Area{Path: organization.SettingsPath})
	connections := db.Connections(master)
	o.config = organization.Config{
		Account: account.New(account.Config{
			Account: newSandbox(t, o.Org.ID), Connections: connections, Mirror: db.Channels(), Requests: db.ProductionRequests(),
			Clock: frametest.Now, Log: slog.New(slog.DiscardHandler),
		}),
		Connections: connections, Syncs: db.SyncResults(), Channels: channels.New(channels.Config{Store: db.Channels(), Clock: frametest.Now}),
		Memberships: o.members, Joining: o.members, Entrance: o, Members: db.Members(), Invitations: db.Invitations(), Factors: o,
		Users: db.Users(), Audit: db.Audit(), Writes: map[string]string{"lists_create": "Create a list"}, Actors: actors.Actors{Members: db.Members(), Users: db.Users(), Keys: db.Keys(), Clients: db.Clients()},
		Connecting: sending.Connecting{
			Connections: connections, Transactor: db, Clock: frametest.Now, Follow: func(context.Context, string) error { return nil },
		},
		SyncAccount:   func(context.Context, string) (bool, error) { return true, nil },
		EventsAddress: func(string) string { return "https://api.example/ingest/x" },
		AppURL:        "https://app.example", DocsURL: "https://docs.example/docs", Clock: frametest.Now,
	}
	o.mount()
	o.Must(db.Channels().Mirror(t.Context(), o.Org.ID, channels.Seen{
		Sync: channels.Sync{Account: "account of " + o.Org.ID, Region: "eu-central-1", At: frametest.Now().Add(-time.Hour)},
		Sets: []sending.ConfigurationSet{{Name: "main"}},
	}))
	return o
}

// mount creates the pages' handler from the office's config.
func (o *office) mount() {
	o.T.Helper()
	room, err := organization.New(o.Frame, o.config)
	o.Must(err)
	mux := o.Open(room)
	mux.Handle(organization.JoinPath, room.Join())
	o.pages = mux
}

// newSandbox returns a simulated sending account of the organization, in its initial state.
func newSandbox(t *testing.T, orgID string) *simulator.Simulator {
	t.Helper()
	s := simulatortest.Open(t, simulator.Options{})
	if err := s.Seed(t.Context(), orgID, simulator.Setup{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// FactorsOf returns no second factors for any person.
func (*office) FactorsOf(context.Context, string) (people.Factors, error) {
	return people.Factors{}, nil
}

// Visitor returns the visitor of o.Site, who is signed in. If o.signedIn is false, it
// returns an error.
func (o *office) Visitor(*http.Request) (people.Visitor, error) {
	if !o.signedIn {
		return people.Visitor{}, core.Invalid("session", "is missing")
	}
	return o.Site.Visitor, nil
}

// IsSignedOut reports true, because Visitor fails only without a session.
func (*office) IsSignedOut(error) bool { return true }

// SignInAddress returns the path of a sign-in page.
func (*office) SignInAddress(next string) string { return "/login?next=" + url.QueryEscape(next) }

// ProvePassword accepts every password and returns an empty user.
func (*office) ProvePassword(*http.Request, string, string) (access.User, error) {
	return access.User{}, nil
}

// Enter starts no session and succeeds.
func (*office) Enter(http.ResponseWriter, *http.Request, members.Member) error { return nil }

// WorkIn does nothing and succeeds.
func (*office) WorkIn(*http.Request, string) error { return nil }
