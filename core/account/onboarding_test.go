package account_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// steps returns the states of the four onboarding steps in order, separated by spaces.
func (b *bundle) steps(t *testing.T) string {
	t.Helper()
	standing, err := b.core.Standing(t.Context(), b.org)
	if err != nil {
		t.Fatal(err)
	}
	var names, states []string
	for _, s := range standing.Steps {
		names, states = append(names, s.Name), append(states, string(s.State))
		if s.Detail == "" {
			t.Errorf("%s says nothing", s.Name)
		}
	}
	if got := fmt.Sprint(names); got != "[connect validate_stack identity test_send]" {
		t.Errorf("the steps are %s", got)
	}
	return strings.Join(states, " ")
}

// TestStepsAreTakenInOrder checks that a step stays pending until the previous step has
// passed, even if its own condition is met.
func TestStepsAreTakenInOrder(t *testing.T) {
	t.Parallel()
	identity := func(v ...sending.VerificationStatus) func(*channels.Seen) {
		return func(s *channels.Seen) {
			s.Identities = nil
			for i, one := range v {
				s.Identities = append(s.Identities, sending.Identity{Identity: fmt.Sprintf("d%d.example", i), Verification: one})
			}
		}
	}
	unsent := func(o *sending.Overview) { o.SentLast24Hours = 0 }
	version := func(n int) func(*testing.T, *bundle) {
		return withConnection(sending.Connection{Provider: sending.SES, TemplateVersion: n})
	}
	server := withConnection(sending.Connection{Provider: sending.SMTP, Endpoint: "mail.example.com:587"})
	for want, s := range map[string]state{
		"passed passed passed passed":        {before: version(13)},
		"passed passed passed pending":       {before: version(13), overview: unsent},
		"passed in_progress pending pending": {before: version(0)},
		"passed failed pending pending":      {before: version(12)},
		"passed passed pending pending":      {before: version(13), seen: identity()},
		"passed passed in_progress pending":  {before: version(13), seen: identity(sending.Failed, sending.Pending)},
		"passed passed failed pending":       {before: version(13), seen: identity(sending.Failed)},
	} {
		if got := s.build(t).steps(t); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for name, s := range map[string]state{
		"simulated": {}, "a mail server": {before: server}, "a mail server that judges senders": {before: server, seen: identity()},
		"sent days ago": {overview: unsent, before: withFigures(figures{sent: 1})},
	} {
		if got := s.build(t).steps(t); got != "passed passed passed passed" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTheFirstStepIsAnAccountThatAnswers(t *testing.T) {
	t.Parallel()
	for kind, want := range map[sending.FailureKind]account.StepState{
		sending.Refused: account.StepFailed, sending.TimedOut: account.StepInProgress, sending.Throttled: account.StepInProgress,
	} {
		b := state{}.build(t)
		b.account.Faults().Set(simulator.Fault{Kind: kind})
		if got := b.steps(t); got != string(want)+" pending pending pending" {
			t.Errorf("%s: %s", kind, got)
		}
	}
	b := setup(t, simulator.Setup{})
	b.org.ID = core.NewID()
	if got := b.steps(t); got != "pending pending pending pending" {
		t.Errorf("without an account: %s", got)
	}
}
