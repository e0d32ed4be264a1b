package storage_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage"
)

// start is the time at which a test begins; later(n) is n seconds after it.
var start = time.Date(2026, 3, 1, 8, 0, 0, 123456000, time.UTC)

func later(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func newOrg(t *testing.T, db *storage.DB) string {
	t.Helper()
	id := core.NewID()
	org := core.Org{ID: id, Name: "Org", Slug: "org-" + id, Tier: "team", RetentionDays: 30}
	must(t, db.Orgs().InsertOrg(t.Context(), org))
	return id
}

func newContact(email string) contacts.Contact {
	return contacts.Contact{
		ID: core.NewID(), Email: email, Status: contacts.Active,
		Attributes: map[string]any{}, TopicPreferences: []topics.Preference{}, Lists: []lists.Ref{},
		CreatedAt: start, UpdatedAt: start,
	}
}

func newList(key string) lists.List {
	return lists.List{
		ID: core.NewID(), Key: key, Name: "List " + key, Source: "api", Origin: core.ManagedOrigin, Status: "active",
		CreatedAt: start, UpdatedAt: start,
	}
}

func prefer(topic string, choice sending.Subscription) topics.Preference {
	return topics.Preference{Topic: topic, SubscriptionStatus: choice}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode fails the test unless err is a *core.Error with the given code.
func wantCode(t *testing.T, what string, err error, code core.Code) {
	t.Helper()
	if e, ok := errors.AsType[*core.Error](err); !ok || e.Code != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// atOnce runs f in n concurrent goroutines and returns their n errors, in the order in
// which they finish.
func atOnce(n int, f func(i int) error) []error {
	ready, outcome := make(chan struct{}), make(chan error, n)
	for i := range n {
		go func() {
			<-ready
			outcome <- f(i)
		}()
	}
	close(ready)
	all := make([]error, n)
	for i := range all {
		all[i] = <-outcome
	}
	return all
}

// wantOneWinner fails the test unless exactly one of outcomes is nil and all others are
// errors with the given code.
func wantOneWinner(t *testing.T, outcomes []error, code core.Code) {
	t.Helper()
	winners := 0
	for _, err := range outcomes {
		if err == nil {
			winners++
			continue
		}
		wantCode(t, "a loser", err, code)
	}
	if winners != 1 {
		t.Errorf("%d winners, want 1", winners)
	}
}

func emails(contacts []contacts.Contact) string {
	text := ""
	for _, c := range contacts {
		text += fmt.Sprintf("%s ", c.Email)
	}
	return text
}
