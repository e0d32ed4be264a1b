package doctor_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/doctor"
)

// TestReceivedMail checks that the report says which mail the server receives.
func TestReceivedMail(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*config.Config)
		want   []string
	}{
		"default":   {func(*config.Config) {}, []string{"inbox.localhost", "set --inbox-domain", "set --mail-host"}},
		"mail host": {func(c *config.Config) { c.InboxDomain, c.MailHost = "inbox.example.com", "mx.example.com" }, []string{"inboxes at inbox.example.com. ", "10 mx.example.com"}},
		"SES":       {func(c *config.Config) { c.ReceiveSESRegions = []string{"eu-west-1", "us-east-1"} }, []string{"Amazon SES in eu-west-1, us-east-1"}},
		"worker":    {func(c *config.Config) { c.Role = config.Worker }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := newConfig(t)
			tc.change(&cfg)
			detail := ""
			for _, c := range doctor.Examine(t.Context(), cfg, "").Checks {
				if c.Name == "received mail" {
					detail = c.Detail
				}
			}
			for _, text := range tc.want {
				if !strings.Contains(detail, text) {
					t.Errorf("%q does not have %q", detail, text)
				}
			}
			if tc.want == nil && detail != "" {
				t.Errorf("a worker reports %q", detail)
			}
		})
	}
}
