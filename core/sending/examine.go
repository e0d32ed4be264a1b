package sending

import (
	"context"
	"errors"
	"fmt"
)

// Verdict is the severity of what a check of an account found.
type Verdict string

// The verdicts of a check. Fine means that it passed. Warning means that some functions of
// the account fail or are restricted. Broken means that the account is unreachable, cannot
// send or is the wrong one.
const (
	Fine    Verdict = "ok"
	Warning Verdict = "warn"
	Broken  Verdict = "fail"
)

// Finding is the result of one check of an account. Next is the step that the customer
// should take; it is "" if the check passed.
type Finding struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"status"`
	Detail  string  `json:"detail"`
	Next    string  `json:"next,omitempty"`
}

// Prober is implemented by accounts whose overview does not show whether the account can be
// reached, such as SMTP servers.
type Prober interface {
	// Probe connects and authenticates to the account. It has no other effect.
	Probe(ctx context.Context, orgID string) error
}

// Examine calls the account, checks everything that sending needs, and returns the findings
// with the account's overview. If the account does not answer, the overview is the zero
// value and there is only one finding.
func Examine(ctx context.Context, account Account, c Connection) ([]Finding, Overview) {
	overview, err := account.Overview(ctx, c.OrgID)
	if prober, ok := account.(Prober); ok && err == nil {
		err = prober.Probe(ctx, c.OrgID)
	}
	if err != nil {
		return []Finding{unreachedFinding(err, c.Provider)}, Overview{}
	}
	findings := []Finding{{Name: "account", Verdict: Fine, Detail: "answers"}}
	if c.AccountID != "" && overview.AccountID != "" && c.AccountID != overview.AccountID {
		findings[0] = Finding{
			"account", Broken, "The credentials belong to another account than the one recorded.",
			"Connect again with the right account id, or without one.",
		}
	}
	findings = append(findings, judgeState(overview)...)
	findings = append(findings, judgeIdentities(ctx, account, c), judgeChannels(ctx, account, c), judgeList(ctx, account, c.OrgID))
	if c.Provider == SES {
		findings = append(findings, judgeEvents(c), judgeTemplate(c))
	}
	return findings, overview
}

// unreachedFinding returns the finding for an account that does not answer, with the step
// to take for the kind of failure.
func unreachedFinding(err error, provider Provider) Finding {
	f := Finding{Name: "account", Verdict: Broken}
	failure, ok := errors.AsType[*Failure](err)
	if !ok {
		failure = &Failure{Kind: Refused}
	}
	switch failure.Kind {
	case NotConnected:
		f.Detail, f.Next = "The simulated account of this organization has not been set up.", "Connect a real account, or seed the simulated one."
	case Throttled:
		f.Detail, f.Next = "The account is throttling calls.", "Try again in a minute."
	case TimedOut:
		f.Detail, f.Next = "The account did not answer in time.", "Check the endpoint and whether this machine reaches it."
	case Unsupported:
		f.Detail, f.Next = "Mailhelm does not support this provider.", "Connect another provider."
	default:
		f.Detail = "The account cannot be reached or refuses the credentials."
		f.Next = "Check the access key and its secret, the region, the policy that allows the calls and, for a role, that its trust policy names the external id."
		if provider == SMTP {
			f.Next = "Check the host and the port, that the server offers encryption with a certificate of its name, and the user name and password. The operator of this installation has to allow servers outside the public Internet."
		}
	}
	return f
}

func judgeState(o Overview) []Finding {
	enabled := Finding{Name: "sending", Verdict: Fine, Detail: "enabled"}
	if !o.SendingEnabled {
		enabled = Finding{"sending", Broken, "The account is not allowed to send.", "See the provider's console for why sending is paused."}
	}
	sandbox := Finding{Name: "sandbox", Verdict: Fine, Detail: "The account has production access."}
	if o.Sandbox {
		sandbox = Finding{"sandbox", Warning, "The account is in the sandbox: it may send to verified addresses only.", "Ask the provider for production access."}
		if o.Review == ReviewPending {
			sandbox.Detail, sandbox.Next = "The account is in the sandbox; production access is requested.", "Wait for the provider's decision."
		}
	}
	return []Finding{enabled, sandbox}
}

func judgeIdentities(ctx context.Context, account Account, c Connection) Finding {
	all, err := account.Identities(ctx, c.OrgID)
	if err != nil {
		return unread("identities", err)
	}
	if c.Provider == SMTP && len(all) == 0 {
		return Finding{Name: "identities", Verdict: Fine, Detail: "None are configured: the server itself decides which senders it accepts."}
	}
	verified := 0
	for _, one := range all {
		if one.Verification == Success {
			verified++
		}
	}
	f := Finding{Name: "identities", Verdict: Fine, Detail: fmt.Sprintf("%d of %d are verified", verified, len(all))}
	if verified == 0 {
		f.Verdict, f.Next = Broken, "Verify a domain or an address to send from."
	}
	return f
}

func judgeChannels(ctx context.Context, account Account, c Connection) Finding {
	all, err := account.ConfigurationSets(ctx, c.OrgID)
	if err != nil {
		return unread("configuration sets", err)
	}
	if c.Provider == SMTP && len(all) == 0 {
		return Finding{Name: "configuration sets", Verdict: Fine, Detail: "An SMTP server has none."}
	}
	f := Finding{Name: "configuration sets", Verdict: Fine, Detail: fmt.Sprintf("%d", len(all))}
	if len(all) == 0 {
		f.Verdict, f.Next = Warning, "Create a configuration set. The account publishes no events without one."
	}
	return f
}

func judgeList(ctx context.Context, account Account, orgID string) Finding {
	list, err := account.ContactList(ctx, orgID)
	switch {
	case IsNotFound(err):
		return Finding{"contact list", Warning, "The account has no contact list.", "Create a contact list. It stores the consent of contacts."}
	case err != nil:
		return unread("contact list", err)
	}
	return Finding{Name: "contact list", Verdict: Fine, Detail: fmt.Sprintf("%d topics", len(list.Topics))}
}

// unread returns the finding for a part of the account, such as its identities, that could
// not be read. Its verdict is Fine if this kind of account does not have the part.
func unread(name string, err error) Finding {
	if IsUnsupported(err) {
		return Finding{Name: name, Verdict: Fine, Detail: "This kind of account has none."}
	}
	return Finding{name, Warning, "They could not be read from the account.", "Check that the policy of the credentials allows this call, and try again."}
}

func judgeEvents(c Connection) Finding {
	if c.TopicARN == "" && c.IngestKeyHash == nil {
		return Finding{
			"events", Warning, "The connection has neither a notification topic nor a key for events, so Mailhelm receives no events about messages.",
			"Record the notification topic, or create a key for events.",
		}
	}
	return Finding{Name: "events", Verdict: Fine, Detail: "are accepted"}
}

func judgeTemplate(c Connection) Finding {
	f := Finding{Name: "template", Verdict: Fine, Detail: fmt.Sprintf("version %d", c.TemplateVersion)}
	if c.TemplateVersion < LatestTemplateVersion {
		f.Verdict = Warning
		f.Detail = fmt.Sprintf("Version %d of the infrastructure template is recorded, the latest is %d.", c.TemplateVersion, LatestTemplateVersion)
		if c.TemplateVersion == 0 {
			f.Detail = fmt.Sprintf("No version of the infrastructure template is recorded; the latest is %d.", LatestTemplateVersion)
		}
		f.Next = "Apply the latest template, then record its version."
	}
	return f
}
