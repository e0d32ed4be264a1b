package smtp_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
)

func TestAccountIsWhatIsConfigured(t *testing.T) {
	t.Parallel()
	a := adapter(t, "127.0.0.1:1", func(_ *smtp.Config, at *smtp.Server) {
		at.Identities, at.Max24HourSend = []string{"example.com", "me@example.org"}, 2_000
	})
	overview, err := a.Overview(t.Context(), "org")
	if diff := cmp.Diff(sending.Overview{SendingEnabled: true, Max24HourSend: 2_000, MaxSendRate: -1}, overview); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	identities, err := a.Identities(t.Context(), "org")
	want := []sending.Identity{{Identity: "example.com", Verification: sending.Success}, {Identity: "me@example.org", Verification: sending.Success}}
	if diff := cmp.Diff(want, identities); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for name, call := range without(a) {
		wantKind(t, name+" of another organization", call(t.Context(), "another"), sending.NotConnected)
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		err := call(cancelled, "org")
		wantKind(t, name+" called off", err, sending.TimedOut)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the cause is %v", name, err)
		}
	}
}

// without returns functions that call most methods of the account, keyed by method name.
// Each function calls its method for the given organization and returns only the error.
func without(a *smtp.SMTP) map[string]func(context.Context, string) error {
	return map[string]func(context.Context, string) error{
		"Overview":          func(ctx context.Context, org string) error { _, err := a.Overview(ctx, org); return err },
		"Identities":        func(ctx context.Context, org string) error { _, err := a.Identities(ctx, org); return err },
		"ConfigurationSets": func(ctx context.Context, org string) error { _, err := a.ConfigurationSets(ctx, org); return err },
		"Suppressed": func(ctx context.Context, org string) error {
			_, err := a.FindSuppressed(ctx, org, "a@b.example")
			return err
		},
		"SuppressedPage": func(ctx context.Context, org string) error {
			_, _, err := a.SuppressedPage(ctx, org, time.Time{}, time.Time{}, "")
			return err
		},
		"TemplatesPage":  func(ctx context.Context, org string) error { _, _, err := a.TemplatesPage(ctx, org, ""); return err },
		"Template":       func(ctx context.Context, org string) error { _, err := a.Template(ctx, org, "welcome"); return err },
		"PutTemplate":    func(ctx context.Context, org string) error { return a.PutTemplate(ctx, org, sending.Template{}) },
		"DeleteTemplate": func(ctx context.Context, org string) error { return a.DeleteTemplate(ctx, org, "welcome") },
		"Send":           func(ctx context.Context, org string) error { _, err := a.Send(ctx, org, receipt()); return err },
		"SendBulk": func(ctx context.Context, org string) error {
			_, err := a.SendBulk(ctx, org, sending.Bulk{})
			return err
		},
		"RequestProductionAccess": func(ctx context.Context, org string) error {
			return a.RequestProductionAccess(ctx, org, sending.ProductionRequest{})
		},
		"ContactList":   func(ctx context.Context, org string) error { _, err := a.ContactList(ctx, org); return err },
		"Contact":       func(ctx context.Context, org string) error { _, err := a.Contact(ctx, org, "a@b.example"); return err },
		"Contacts":      func(ctx context.Context, org string) error { _, _, err := a.Contacts(ctx, org, ""); return err },
		"PutContact":    func(ctx context.Context, org string) error { return a.PutContact(ctx, org, sending.Contact{}) },
		"DeleteContact": func(ctx context.Context, org string) error { return a.DeleteContact(ctx, org, "a@b.example") },
	}
}

func TestWhatSMTPCannotDo(t *testing.T) {
	t.Parallel()
	a := adapter(t, "127.0.0.1:1", nil)
	all := without(a)
	for name, want := range map[string]sending.FailureKind{
		"ContactList": sending.NotFound, "PutContact": sending.NotFound, "Suppressed": sending.NotFound, "Template": sending.NotFound, "PutTemplate": sending.Unsupported,
		"SendBulk": sending.Unsupported, "RequestProductionAccess": sending.Unsupported,
	} {
		wantKind(t, name, all[name](t.Context(), "org"), want)
	}
	for _, name := range []string{"ConfigurationSets", "SuppressedPage", "TemplatesPage", "DeleteTemplate"} {
		if err := all[name](t.Context(), "org"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, err := a.TemplatesPage(t.Context(), "org", "token")
	wantKind(t, "a token that was never given out", err, sending.Invalid)
}

func TestServersThatAreNotSMTP(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		connection sending.Connection
		err        error
		want       sending.FailureKind
	}{
		"another provider": {sending.Connection{Provider: sending.SES, Endpoint: "a:1"}, nil, sending.NotConnected},
		"no port":          {sending.Connection{Provider: sending.SMTP, Endpoint: "mail.example.com"}, nil, sending.Refused},
		"no host":          {sending.Connection{Provider: sending.SMTP, Endpoint: ":587"}, nil, sending.Refused},
		"a line break":     {sending.Connection{Provider: sending.SMTP, Endpoint: "a\r\nb:587"}, nil, sending.Refused},
		"a database down":  {sending.Connection{}, errors.New("connection refused"), sending.Refused},
	} {
		a := smtp.New(smtp.Config{Server: func(context.Context, string) (smtp.Server, error) {
			return smtp.Server{Connection: test.connection}, test.err
		}})
		_, err := a.Send(t.Context(), "org", receipt())
		wantKind(t, name, err, test.want)
	}
}

func TestConsentIsStoredInTheConfiguredStore(t *testing.T) {
	t.Parallel()
	kept := simulatortest.Open(t, simulator.Options{})
	a := adapter(t, "127.0.0.1:1", func(cfg *smtp.Config, _ *smtp.Server) { cfg.Consent = kept })
	ada := sending.Contact{Email: "ada@example.net", Preferences: map[string]sending.Subscription{"news": sending.OptOut}}
	_, err := a.ContactList(t.Context(), "org")
	wantKind(t, "ContactList before one is set up", err, sending.NotFound)
	wantKind(t, "PutContact before a list is set up", a.PutContact(t.Context(), "org", ada), sending.NotFound)
	if err := a.DeleteContact(t.Context(), "org", ada.Email); err != nil {
		t.Error(err)
	}
	if err := kept.Seed(t.Context(), "org", simulator.Setup{
		List: &sending.ContactList{Name: "people", Topics: []sending.Topic{{Name: "news", Default: sending.OptIn}}},
	}); err != nil {
		t.Fatal(err)
	}
	if list, err := a.ContactList(t.Context(), "org"); err != nil || len(list.Topics) != 1 {
		t.Errorf("the list is %+v, %v", list, err)
	}
	if err := a.PutContact(t.Context(), "org", ada); err != nil {
		t.Fatal(err)
	}
	got, err := a.Contact(t.Context(), "org", "ADA@example.net")
	if err != nil || got.Preferences["news"] != sending.OptOut {
		t.Errorf("Ada is %+v, %v", got, err)
	}
	page, next, err := a.Contacts(t.Context(), "org", "")
	if err != nil || len(page) != 1 || next != "" {
		t.Errorf("the page is %+v, %q, %v", page, next, err)
	}
	if err := a.DeleteContact(t.Context(), "org", ada.Email); err != nil {
		t.Fatal(err)
	}
	_, err = a.Contact(t.Context(), "org", ada.Email)
	wantKind(t, "Contact after the delete", err, sending.NotFound)
}
