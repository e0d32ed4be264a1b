package sending

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	port "github.com/mailhelm/mailhelm/core/sending"
)

// Calls returns one call of every method of the interface port.Account, keyed by the
// method's name. It fails the test if a method has no call.
func Calls(t *testing.T, a port.Account, orgID string) map[string]func(context.Context) error {
	t.Helper()
	all := knownCalls(a, orgID)
	for method := range reflect.TypeFor[port.Account]().Methods() {
		if all[method.Name] == nil {
			t.Errorf("the suite does not call %s", method.Name)
		}
	}
	return all
}

// knownCalls returns one call of each method of port.Account, keyed by the method's name.
// All arguments are valid, so that a call fails only because of the state of the account.
func knownCalls(a port.Account, orgID string) map[string]func(context.Context) error {
	const email = "person@example.com"
	return map[string]func(context.Context) error{
		"Overview":          func(ctx context.Context) error { _, err := a.Overview(ctx, orgID); return err },
		"Identities":        func(ctx context.Context) error { _, err := a.Identities(ctx, orgID); return err },
		"ConfigurationSets": func(ctx context.Context) error { _, err := a.ConfigurationSets(ctx, orgID); return err },
		"ContactList":       func(ctx context.Context) error { _, err := a.ContactList(ctx, orgID); return err },
		"ChangeTopics":      func(ctx context.Context) error { return a.ChangeTopics(ctx, orgID, addTopic("weather")) },
		"EnsureContactList": func(ctx context.Context) error { return a.EnsureContactList(ctx, orgID) },
		"Contact":           func(ctx context.Context) error { _, err := a.Contact(ctx, orgID, email); return err },
		"Contacts":          func(ctx context.Context) error { _, _, err := a.Contacts(ctx, orgID, ""); return err },
		"PutContact":        func(ctx context.Context) error { return a.PutContact(ctx, orgID, port.Contact{Email: email}) },
		"PutContacts": func(ctx context.Context) error {
			outcomes, err := a.PutContacts(ctx, orgID, []port.Contact{{Email: email}})
			if err == nil && outcomes[0] != nil {
				err = outcomes[0]
			}
			return err
		},
		"DeleteContact":  func(ctx context.Context) error { return a.DeleteContact(ctx, orgID, email) },
		"EraseAddress":   func(ctx context.Context) error { return a.EraseAddress(ctx, orgID, email) },
		"FindSuppressed": func(ctx context.Context) error { _, err := a.FindSuppressed(ctx, orgID, email); return err },
		"SuppressedPage": func(ctx context.Context) error {
			_, _, err := a.SuppressedPage(ctx, orgID, time.Time{}, time.Time{}, "")
			return err
		},
		"TemplatesPage":           func(ctx context.Context) error { _, _, err := a.TemplatesPage(ctx, orgID, ""); return err },
		"Template":                func(ctx context.Context) error { _, err := a.Template(ctx, orgID, "welcome"); return err },
		"PutTemplate":             func(ctx context.Context) error { return a.PutTemplate(ctx, orgID, welcome()) },
		"DeleteTemplate":          func(ctx context.Context) error { return a.DeleteTemplate(ctx, orgID, "welcome") },
		"Send":                    func(ctx context.Context) error { _, err := a.Send(ctx, orgID, message(email)); return err },
		"SendBulk":                func(ctx context.Context) error { _, err := a.SendBulk(ctx, orgID, bulk(email)); return err },
		"RequestProductionAccess": func(ctx context.Context) error { return a.RequestProductionAccess(ctx, orgID, productionRequest()) },
	}
}

// failuresAreTyped makes the account fail in three ways and calls every method each time.
// It checks the kind of the error and the status that API callers get. The stored contact
// must not change.
func failuresAreTyped(t *testing.T, s Subject) {
	const email = "person@example.com"
	before := port.Contact{Email: email, UnsubscribeAll: true}
	s.Seed(t, "org", people(before))
	for _, want := range []struct {
		failure port.Failure
		status  int
	}{
		{port.Failure{Kind: port.Refused}, 503},
		{port.Failure{Kind: port.Throttled, RetryAfter: 7 * time.Second}, 503},
		{port.Failure{Kind: port.TimedOut}, 504},
	} {
		heal := s.Fail(t, want.failure)
		for name, call := range Calls(t, s.Account, "org") {
			err := call(t.Context())
			WantKind(t, name, err, want.failure.Kind)
			wantShown(t, name, err, want.status, want.failure.RetryAfter)
		}
		heal()
		wantContact(t, get(t, s.Account, email), before)
	}
	err := s.Account.PutContact(t.Context(), "org", port.Contact{Email: email, Preferences: choices("weather", port.OptIn)})
	wantShown(t, "PutContact", err, 422, 0)
}

// wantShown checks how API callers see an adapter's error: the HTTP status, and after how
// long they may retry.
func wantShown(t *testing.T, call string, err error, status int, retryAfter time.Duration) {
	t.Helper()
	shown := port.Unavailable(err)
	problem := core.ProblemOf(shown, "", "")
	if problem.Status != status {
		t.Errorf("%s is answered with %d, want %d", call, problem.Status, status)
	}
	if e := core.AsError(shown); retryAfter != 0 && e.RetryAfter != retryAfter {
		t.Errorf("%s may be repeated after %v, want %v", call, e.RetryAfter, retryAfter)
	}
	text, jsonErr := json.Marshal(problem)
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	if f, ok := errors.AsType[*port.Failure](err); ok && f.Err != nil && strings.Contains(string(text), f.Err.Error()) {
		t.Errorf("%s shows the caller the cause: %s", call, text)
	}
}

// cancelledCallsFail calls every method with a context that has ended. Each call must fail
// with TimedOut, wrap the context's error and write nothing.
func cancelledCallsFail(t *testing.T, s Subject) {
	before := port.Contact{Email: "person@example.com", UnsubscribeAll: true}
	s.Seed(t, "org", people(before))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancelLate()
	for name, call := range Calls(t, s.Account, "org") {
		for _, ctx := range []context.Context{cancelled, late} {
			err := call(ctx)
			WantKind(t, name, err, port.TimedOut)
			if !errors.Is(err, ctx.Err()) {
				t.Errorf("%s fails with %v, want %v as the cause", name, err, ctx.Err())
			}
		}
	}
	wantContact(t, get(t, s.Account, before.Email), before)
}
