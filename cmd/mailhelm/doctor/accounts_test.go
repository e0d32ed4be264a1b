package doctor_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/doctor"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestAccountsOfEveryKindAreAsked checks that doctor asks simulated accounts and SMTP servers, and
// names the organization of an SMTP server that does not answer, and on SQLite one whose simulated
// account is missing. On PostgreSQL a server creates it before the first use.
func TestAccountsOfEveryKindAreAsked(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func() string{
		"sqlite": func() string { return "" }, "postgres": func() string { return enginetest.PostgresURL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := newConfig(t)
			cfg.DatabaseURL, cfg.MaxConns, cfg.MailServerNetworks = database(), 4, []string{"127.0.0.0/8"}
			withAccounts(t, cfg)
			r := doctor.Examine(t.Context(), cfg, "")
			status, text := checkOf(r, "sending account")
			wanted := []string{"organization gone: smtp: ", "admin account verify gone", "of 3 accounts these answer: 1 simulated, 0 Amazon SES, 0 SMTP"}
			if cfg.DatabaseURL == "" {
				wanted = append(wanted, "organization bare: the simulated account in ")
			} else if strings.Contains(text, "bare") {
				t.Errorf("%s: %s", status, text)
			}
			for _, want := range wanted {
				if !strings.Contains(text, want) {
					t.Errorf("%s: not %q in: %s", status, want, text)
				}
			}
			if r.Status != doctor.Warn {
				t.Errorf("status %s", r.Status)
			}
			if clock, text := checkOf(r, "clock of the database"); cfg.DatabaseURL != "" && clock != doctor.OK || cfg.DatabaseURL == "" && clock != "" {
				t.Errorf("clock %s: %s", clock, text)
			}
		})
	}
}

// withAccounts creates an organization with a simulated account, one without, and one with an SMTP
// server that does not answer.
func withAccounts(t *testing.T, cfg config.Config) {
	t.Helper()
	h, err := serve.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Stop(context.Background()) //nolint:errcheck // nothing runs
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() //nolint:errcheck // only its port is used
	for _, slug := range []string{"good", "gone", "bare"} {
		org := core.Org{ID: core.NewID(), Slug: slug, Name: slug, RetentionDays: 30}
		err := h.DB().Orgs().InsertOrg(t.Context(), org)
		if err == nil && slug != "bare" {
			err = h.Account().Seed(t.Context(), org.ID, simulator.Setup{List: &sending.ContactList{Name: "contacts"}})
		}
		if err == nil && slug == "gone" {
			err = h.Connections().SaveConnection(t.Context(), sending.Connection{
				OrgID: org.ID, Provider: sending.SMTP, Endpoint: l.Addr().String(), AccessKeyID: "user", Secret: "password", CreatedAt: time.Now(), UpdatedAt: time.Now(),
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
