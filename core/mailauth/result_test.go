package mailauth_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/mailauth"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[mailauth.Outcome]mailauth.Verdict{
		"":                        mailauth.Disabled,
		mailauth.OutcomeNone:      mailauth.Gray,
		mailauth.OutcomeNeutral:   mailauth.Gray,
		mailauth.OutcomePass:      mailauth.Pass,
		mailauth.OutcomeFail:      mailauth.Fail,
		mailauth.OutcomeSoftFail:  mailauth.Fail,
		mailauth.OutcomeTempError: mailauth.ProcessingFailed,
		mailauth.OutcomePermError: mailauth.ProcessingFailed,
		"unknown":                 mailauth.ProcessingFailed,
	} {
		for check, got := range map[string]mailauth.Verdict{
			"SPF":   mailauth.SPF{Outcome: outcome}.Verdict(),
			"DKIM":  mailauth.DKIM{Outcome: outcome}.Verdict(),
			"DMARC": mailauth.DMARC{Outcome: outcome}.Verdict(),
		} {
			if got != want {
				t.Errorf("%s %q: %s instead of %s", check, outcome, got, want)
			}
		}
	}
}

// TestIgnoredFailure checks that a failure that the owner of the domain wants ignored is no
// failure, as Amazon SES documents it.
func TestIgnoredFailure(t *testing.T) {
	t.Parallel()
	for handling, want := range map[dmarc.Policy]mailauth.Verdict{
		dmarc.None: mailauth.Gray, dmarc.Quarantine: mailauth.Fail, dmarc.Reject: mailauth.Fail, "": mailauth.Fail,
	} {
		if got := (mailauth.DMARC{Outcome: mailauth.OutcomeFail, Handling: handling}).Verdict(); got != want {
			t.Errorf("%q: %s", handling, got)
		}
	}
	if got := (mailauth.DMARC{Outcome: mailauth.OutcomePass, Handling: dmarc.None}).Verdict(); got != mailauth.Pass {
		t.Errorf("pass: %s", got)
	}
}
