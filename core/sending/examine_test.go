package sending_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
)

func TestExamine(t *testing.T) {
	t.Parallel()
	account := simulatortest.Open(t, simulator.Options{})
	c := sending.Connection{OrgID: "org", Provider: sending.SES}
	wantVerdicts(t, account, c, map[string]sending.Verdict{"account": sending.Broken})

	seed := func(setup simulator.Setup) {
		t.Helper()
		if err := account.Seed(t.Context(), "org", setup); err != nil {
			t.Fatal(err)
		}
	}
	seed(simulator.Setup{Identities: []sending.Identity{{Identity: "new.example", Verification: sending.Pending}}})
	wantVerdicts(t, account, c, map[string]sending.Verdict{
		"account": sending.Fine, "sending": sending.Fine, "sandbox": sending.Warning, "identities": sending.Broken,
		"configuration sets": sending.Warning, "contact list": sending.Warning, "events": sending.Warning, "template": sending.Warning,
	})

	if findings, _ := sending.Examine(t.Context(), account, c); !strings.HasPrefix(findings[len(findings)-1].Detail, "No version of") {
		t.Errorf("nothing recorded: %+v", findings[len(findings)-1])
	}

	seed(simulator.Setup{
		Account:           &sending.Overview{AccountID: "111122223333", SendingEnabled: true, Max24HourSend: 1, MaxSendRate: 1},
		Identities:        []sending.Identity{{Identity: "example.com", Verification: sending.Success}},
		ConfigurationSets: []sending.ConfigurationSet{{Name: "default"}},
		List:              &sending.ContactList{Name: "people"},
	})
	c.AccountID, c.TopicARN, c.TemplateVersion = "111122223333", "arn", sending.LatestTemplateVersion
	wantVerdicts(t, account, c, map[string]sending.Verdict{
		"account": sending.Fine, "sending": sending.Fine, "sandbox": sending.Fine, "identities": sending.Fine,
		"configuration sets": sending.Fine, "contact list": sending.Fine, "events": sending.Fine, "template": sending.Fine,
	})
	c.AccountID = "999988887777"
	findings, _ := sending.Examine(t.Context(), account, c)
	if findings[0].Verdict != sending.Broken {
		t.Errorf("another account: %+v", findings[0])
	}
}

// TestExamineAMailServer checks that an SMTP account without configuration sets and
// identities gets no warning.
func TestExamineAMailServer(t *testing.T) {
	t.Parallel()
	account := simulatortest.Open(t, simulator.Options{})
	setup := simulator.Setup{
		Account: &sending.Overview{SendingEnabled: true, Max24HourSend: -1, MaxSendRate: -1}, List: &sending.ContactList{Name: "people"},
	}
	if err := account.Seed(t.Context(), "org", setup); err != nil {
		t.Fatal(err)
	}
	want := map[string]sending.Verdict{
		"account": sending.Fine, "sending": sending.Fine, "sandbox": sending.Fine, "identities": sending.Fine,
		"configuration sets": sending.Fine, "contact list": sending.Fine,
	}
	wantVerdicts(t, account, sending.Connection{OrgID: "org", Provider: sending.SMTP}, want)
}

func wantVerdicts(t *testing.T, account sending.Account, c sending.Connection, want map[string]sending.Verdict) {
	t.Helper()
	findings, _ := sending.Examine(t.Context(), account, c)
	for _, f := range findings {
		if f.Verdict != want[f.Name] || (f.Next == "") != (f.Verdict == sending.Fine) || f.Detail == "" {
			t.Errorf("%+v, want %s", f, want[f.Name])
		}
	}
	if len(findings) != len(want) {
		t.Errorf("%d findings, want %d", len(findings), len(want))
	}
}
