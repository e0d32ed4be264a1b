package account

import (
	"context"
	"errors"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
)

// StepState is the progress of an onboarding step.
type StepState string

// The states of an onboarding step.
const (
	StepPending    StepState = "pending"
	StepInProgress StepState = "in_progress"
	StepPassed     StepState = "passed"
	StepFailed     StepState = "failed"
)

// Step is one of the onboarding steps up to the first sent message. Its state stays pending
// until the previous step has passed.
type Step struct {
	Name   string // connect, validate_stack, identity or test_send
	State  StepState
	Detail string
}

// Standing is the state of an organization's sending account as the dashboard shows it.
type Standing struct {
	Overview
	// Provider is "" if no connection is stored for the organization.
	Provider sending.Provider
	// Unreachable is true if a sending account is connected but its state could not be read.
	Unreachable bool
	Request     *sending.AccessRequest
	Steps       []Step
}

// Standing returns the state of the organization's sending account for the dashboard. It
// succeeds even if the account does not answer.
func (a *Account) Standing(ctx context.Context, org core.Org) (Standing, error) {
	live, asked := a.overview(ctx, org.ID)
	var in GetIn
	if asked == nil {
		in.live = &live
	}
	var s Standing
	var err error
	if s.Overview, err = a.getAccount(ctx, &core.Call{Principal: core.Principal{Org: org}}, in); err != nil {
		return Standing{}, err
	}
	s.Unreachable = asked != nil && !sending.IsAbsent(asked)
	if s.Request, err = a.latestRequest(ctx, org.ID); err != nil {
		return Standing{}, err
	}
	connection, err := a.connection(ctx, org.ID)
	if err != nil {
		return Standing{}, err
	}
	s.Provider = connection.Provider
	s.Steps, err = a.steps(ctx, org, s, live, asked)
	return s, err
}

// steps returns the four onboarding steps in order. The state of a step is pending until
// the previous step has passed. live is the state that the sending account reported. asked
// is the error of the request for this state, or nil.
func (a *Account) steps(ctx context.Context, org core.Org, s Standing, live sending.Overview, asked error) ([]Step, error) {
	template, err := a.template(ctx, org.ID)
	if err != nil {
		return nil, err
	}
	identities, err := a.Mirror.Identities(ctx, org.ID, nil, maxLooked)
	if err != nil {
		return nil, err
	}
	recent, err := a.recentRates(ctx, org)
	if err != nil {
		return nil, err
	}
	sent := live.SentLast24Hours > 0 || recent != nil && recent.sent > 0
	steps := []Step{connectStep(s.Unreachable, asked), stackStep(template), identityStep(s.Provider, identities), sendStep(sent)}
	for i := 1; i < len(steps); i++ {
		if steps[i-1].State != StepPassed {
			steps[i].State, steps[i].Detail = StepPending, "Complete the previous step first."
		}
	}
	return steps, nil
}

func connectStep(unreachable bool, asked error) Step {
	step := Step{Name: "connect", State: StepPending, Detail: "No sending account is connected."}
	switch f, _ := errors.AsType[*sending.Failure](asked); {
	case asked == nil:
		step.State, step.Detail = StepPassed, "The sending account answers."
	case unreachable && f != nil && f.Kind == sending.Refused:
		step.State, step.Detail = StepFailed, "The sending account refuses Mailhelm's calls. Check the credentials and that the account is not suspended."
	case unreachable:
		step.State, step.Detail = StepInProgress, "The sending account does not answer now."
	}
	return step
}

func stackStep(template *InfraTemplate) Step {
	step := Step{Name: "validate_stack", State: StepPassed, Detail: "The newest infrastructure template is applied."}
	switch {
	case template == nil:
		step.Detail = "This kind of account needs no infrastructure."
	case template.TemplateVersion == 0:
		step.State, step.Detail = StepInProgress, "The version of the infrastructure template is not recorded yet."
	case !template.UpToDate:
		step.State, step.Detail = StepFailed, "An older infrastructure template is applied. Update the stack."
	}
	return step
}

func identityStep(provider sending.Provider, identities []channels.Identity) Step {
	if provider == sending.SMTP && len(identities) == 0 {
		return Step{Name: "identity", State: StepPassed, Detail: "No sender is configured: the SMTP server itself decides which senders it accepts."}
	}
	step := Step{Name: "identity", State: StepPending, Detail: "The account has no domain or address to send from. Mailhelm finds a new one within 15 minutes."}
	for _, i := range identities {
		switch {
		case i.Verification == sending.Success:
			return Step{Name: step.Name, State: StepPassed, Detail: "There is a verified identity to send from."}
		case i.Verification == sending.Pending:
			step.State, step.Detail = StepInProgress, "No identity is verified yet. Publish the DNS records of a domain, or follow the link sent to an address."
		case step.State == StepPending:
			step.State, step.Detail = StepFailed, "The provider did not find the DNS records of the identities."
		}
	}
	return step
}

func sendStep(sent bool) Step {
	if sent {
		return Step{Name: "test_send", State: StepPassed, Detail: "A message was sent."}
	}
	return Step{Name: "test_send", State: StepPending, Detail: "No message was sent recently. Send a test message."}
}
