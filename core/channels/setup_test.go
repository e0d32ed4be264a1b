package channels_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// world is [channels.Channels] on a test database, with accounts whose content a test sets.
// zone has the records of a simulated DNS, which does not answer while down is true.
type world struct {
	*channels.Channels
	db   *storage.DB
	org  string
	now  time.Time
	zone map[string]string
	down bool
	account
}

// account is a sending account for tests. It maps an organization's id to the content of
// its account.
type account map[string]*accountContent

type accountContent struct {
	overview   sending.Overview
	identities []sending.Identity
	sets       []sending.ConfigurationSet
	failure    error
}

var none = &sending.Failure{Kind: sending.NotConnected, Err: errors.New("no account")}

func (a account) Overview(_ context.Context, orgID string) (sending.Overview, error) {
	if a[orgID] == nil {
		return sending.Overview{}, none
	}
	return a[orgID].overview, a[orgID].failure
}

func (a account) Identities(_ context.Context, orgID string) ([]sending.Identity, error) {
	return a[orgID].identities, nil
}

func (a account) ConfigurationSets(_ context.Context, orgID string) ([]sending.ConfigurationSet, error) {
	return a[orgID].sets, nil
}

// IsPublished reports whether the zone of the test has the record. It fails while the field
// down is true.
func (w *world) IsPublished(_ context.Context, _ string, r channels.Record) (bool, error) {
	if w.down {
		return false, errors.New("no name server")
	}
	return w.zone[r.Name] == r.Value, nil
}

func newWorld(t *testing.T, db *storage.DB) *world {
	t.Helper()
	w := &world{
		db: db, org: core.NewID(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), zone: map[string]string{},
		account: account{},
	}
	w.Channels = channels.New(channels.Config{
		Store: db.Channels(), Account: w.account, DNS: w,
		Orgs:  func(context.Context) ([]string, error) { return []string{w.org}, nil },
		Clock: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler),
	})
	return w
}

// each runs a test on SQLite and on PostgreSQL.
func each(t *testing.T, f func(*testing.T, *world)) {
	t.Helper()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) { f(t, newWorld(t, db)) })
}

// setAccount sets what the organization's sending account contains. All organizations of a
// test have the same account id and region, so they share one account of the provider.
func (w *world) setAccount(orgID string, s accountContent) {
	s.overview = sending.Overview{AccountID: "123456789012", Region: "eu-central-1"}
	w.account[orgID] = &s
}

func (w *world) sync(t *testing.T, orgID string) {
	t.Helper()
	if err := w.Sync(t.Context(), orgID); err != nil {
		t.Fatal(err)
	}
}

// call runs an operation for an organization and returns its result or error.
func (w *world) call(t *testing.T, orgID, name, arguments string) (any, error) {
	t.Helper()
	for _, op := range w.Operations() {
		if op.Info().Name != name {
			continue
		}
		in, err := op.Decode(core.REST, []byte(arguments))
		if err != nil {
			return nil, err
		}
		return op.Do(t.Context(), &core.Call{Surface: core.REST, Principal: core.Principal{Org: core.Org{ID: orgID}}}, in)
	}
	t.Fatalf("there is no operation %s", name)
	return nil, nil
}

// read runs an operation and returns its result. It ends the test if the operation fails.
func read[T any](t *testing.T, w *world, name, arguments string) T {
	t.Helper()
	out, err := w.call(t, w.org, name, arguments)
	if err != nil {
		t.Fatal(err)
	}
	return out.(T)
}

func (w *world) channel(t *testing.T, slug string) channels.Channel {
	t.Helper()
	return read[channels.Channel](t, w, "channels_get", `{"name":"`+slug+`"}`)
}

func code(err error) core.Code {
	if err == nil {
		return ""
	}
	return core.AsError(err).Code
}

// simulatorOf returns a simulated sending account with two identities, and one channel with
// a tracking domain.
func simulatorOf(t *testing.T, orgID string) *simulator.Simulator {
	t.Helper()
	s := simulatortest.Open(t, simulator.Options{})
	err := s.Seed(t.Context(), orgID, simulator.Setup{
		Account:           &sending.Overview{Region: "eu-central-1"},
		Identities:        []sending.Identity{{Identity: "Example.com", Verification: sending.Success}, {Identity: "news@example.org", Verification: sending.Pending}},
		ConfigurationSets: []sending.ConfigurationSet{{Name: "Main", TrackingDomain: "example.com", SuppressionPolicy: []string{"BOUNCE"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
