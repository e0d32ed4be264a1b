package parity

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/templates"
)

// shapeScene is a product with two organizations. The first has all kinds of data and the
// other almost none, so that optional members are seen with and without a value.
type shapeScene struct {
	*product.Product
	// own is the API key of the first organization, other that of the second.
	own, other string
}

// newShapeScene starts a product with the demo's past messages, and adds the kinds of data
// that the demo does not have.
func newShapeScene(t *testing.T) shapeScene {
	t.Helper()
	p := product.Start(t, product.Options{Past: true})
	s := shapeScene{p, p.Live.APIKey, p.Other.Live.APIKey}
	s.seed(t)
	s.recordUndelivered(t)
	s.mirror(t)
	s.bare(t)
	return s
}

const later = "later.example.com"

// seed adds a channel with an identity and a tracking domain whose DNS records are not
// published. It also adds a template that does not parse.
func (s shapeScene) seed(t *testing.T) {
	t.Helper()
	err := s.Simulator.Seed(t.Context(), s.OrgID, simulator.Setup{
		Identities: []sending.Identity{
			{Identity: later, Verification: sending.Failed, ConfigurationSet: "later"},
		},
		ConfigurationSets: []sending.ConfigurationSet{{Name: "later", TrackingDomain: later}},
		Templates:         []sending.Template{{Name: "broken", Subject: "Hello", Text: "{{#if name}}Hello {{name}}"}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// recordUndelivered records a message whose only event is Send. The demo's history has such
// a message only if its newest mail was sent minutes ago, so it has none at night (UTC).
func (s shapeScene) recordUndelivered(t *testing.T) {
	t.Helper()
	at := s.Clock.Now().Add(-time.Minute)
	_, err := serve.Events(s.DB, privacy.Erased{Store: s.DB.Privacy()}, s.Clock.Now, slog.New(slog.DiscardHandler)).Record(t.Context(), s.OrgID, []messages.Event{{
		ID: "under way", MessageID: "under-way", Type: messages.Send, OccurredAt: at,
		Mail: messages.Mail{From: "news@example.org", To: []string{"later@example.com"}, Subject: "On its way", SentAt: at},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// mirror runs the jobs that copy channels and templates from the sending account. It then
// sets the status of the unpublished tracking domain to failed.
func (s shapeScene) mirror(t *testing.T) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	follower := channels.New(channels.Config{Store: s.DB.Channels(), Account: s.Simulator, Clock: s.Clock.Now, Log: log})
	err := s.DB.InTx(t.Context(), func(ctx context.Context) error {
		if err := follower.Sync(ctx, s.OrgID); err != nil {
			return err
		}
		d, err := s.DB.Channels().TrackingDomain(ctx, s.OrgID, later)
		if err != nil {
			return err
		}
		// The transaction that stores the tracking domain also sets its status to failed.
		// Between two transactions, the job that checks DNS could find the domain's records
		// in the simulator and store another status.
		d.Status = channels.TrackingFailed
		return s.DB.Channels().SetTrackingStatus(ctx, s.OrgID, d)
	})
	if err != nil {
		t.Fatal(err)
	}
	copied := templates.New(templates.Config{Store: s.DB.Templates(), Managed: s.DB.ManagedTemplates(), Account: s.Simulator, Clock: s.Clock.Now, Log: log})
	if err := copied.Sync(t.Context(), s.OrgID); err != nil {
		t.Fatal(err)
	}
}

// bare adds data to the scene's second organization that the first one does not have. These
// are messages with only a sender, a message whose events set no status, and a rate limit.
func (s shapeScene) bare(t *testing.T) {
	t.Helper()
	at := s.Clock.Now().Add(-time.Hour)
	mail := messages.Mail{From: "me@shop.example", SentAt: at}
	_, err := serve.Events(s.DB, privacy.Erased{Store: s.DB.Privacy()}, s.Clock.Now, slog.New(slog.DiscardHandler)).Record(t.Context(), s.Other.OrgID, []messages.Event{
		{ID: "bare", MessageID: "bare", Type: messages.Send, OccurredAt: at, Mail: mail},
		{ID: "unrendered", MessageID: "unrendered", Type: messages.RenderingFailure, OccurredAt: at, Mail: mail},
		{ID: "subscribed", MessageID: "unrendered", Type: messages.Subscription, OccurredAt: at, Mail: mail},
	})
	if err != nil {
		t.Fatal(err)
	}
	limit := 100_000
	if err := s.DB.Orgs().SetRateLimit(t.Context(), s.Other.OrgID, &limit); err != nil {
		t.Fatal(err)
	}
}

// twoMinutes is longer than the time for which the product caches responses of the sending
// account. It is also longer than the period of the rate limit.
const twoMinutes = 2 * time.Minute

// withFailingAccount makes every call to the sending account fail while f runs. It first
// advances the clock, so that no cached response of the account is used.
func (s shapeScene) withFailingAccount(f func()) {
	s.Clock.Advance(twoMinutes)
	s.Simulator.Faults().Set(simulator.Fault{Kind: sending.Refused})
	defer s.Simulator.Faults().Clear()
	f()
}

// ask stores a request of the other organization for production access, with the given
// status.
func (s shapeScene) ask(t *testing.T, status sending.AccessStatus) {
	t.Helper()
	now := s.Clock.Now()
	r := sending.AccessRequest{ID: core.NewID(), Status: sending.AccessPending, CreatedAt: now, UpdatedAt: now}
	if err := s.DB.ProductionRequests().InsertRequest(t.Context(), s.Other.OrgID, r); err != nil {
		t.Fatal(err)
	}
	if r.Status = status; status == sending.AccessGranted {
		r.GrantedAt = &now
	}
	if _, err := s.DB.ProductionRequests().DecideRequest(t.Context(), s.Other.OrgID, r); err != nil {
		t.Fatal(err)
	}
}

// get sends a GET request with a credential. target is a path of the API such as
// "/v1/lists", or a URL.
func (s shapeScene) get(t *testing.T, credential, target string) answer {
	t.Helper()
	return s.getWith(t, credential, target, nil)
}

// getWith sends a GET request like get, with further headers.
func (s shapeScene) getWith(t *testing.T, credential, target string, header map[string]string) answer {
	t.Helper()
	if strings.HasPrefix(target, "/") {
		target = s.BaseURL + target
	}
	return ask(t, s.Product, request{url: target, bearer: credential, header: header})
}

// decode decodes the body of a response. It ends the test unless the status is 200.
func (s shapeScene) decode(t *testing.T, got answer, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(got.body), into); err != nil || got.status != http.StatusOK {
		t.Fatalf("%d %v: %s", got.status, err, got.body)
	}
}

// first reads a list and returns the named member of its first item, for use in a path.
func (s shapeScene) first(t *testing.T, list, name string) string {
	t.Helper()
	var page struct{ Data []map[string]any }
	got := s.get(t, s.own, list)
	if s.decode(t, got, &page); len(page.Data) == 0 {
		t.Fatalf("%s: %s", list, got.body)
	}
	text, _ := page.Data[0][name].(string)
	return text
}
