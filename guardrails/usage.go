package guardrails

import (
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/usage"
)

// countUsage counts a call of the principal at the agent endpoint. operation is "" if the
// request named none.
func (g *Guard) countUsage(p core.Principal, operation string, outcome usage.Outcome) {
	if g.Usage == nil {
		return
	}
	g.Usage.Count(usage.Call{
		OrgID: p.Org.ID, ClientID: p.Credential.Name, UserID: p.UserID, Operation: operation, Outcome: outcome, At: g.Clock(),
	})
}

// CountRefusedUsage counts a request at the agent endpoint that was refused without a call
// of Operation.Call. An unknown operation is counted as "". A request whose credential was
// refused is not counted, because it belongs to no organization.
func (c *Catalogue) CountRefusedUsage(p core.Principal, operation string) {
	if p.Org.ID == "" {
		return
	}
	if _, known := c.byName[operation]; !known {
		operation = noOperation
	}
	c.guard.countUsage(p, operation, usage.Refused)
}

// usageOutcome returns the outcome of a finished call.
func usageOutcome(p *passage, err error) usage.Outcome {
	switch {
	case err != nil:
		return failureOutcome(err)
	case p.confirm != nil:
		return usage.Asked
	case p.spend != nil:
		return usage.Confirmed
	}
	return usage.Done
}

// failureOutcome returns Failed for faults of Mailhelm and of the sending account, and
// Refused for all other errors.
func failureOutcome(err error) usage.Outcome {
	switch core.AsError(err).Code {
	case core.CodeInternalError, core.CodeTemporarilyUnavailable, core.CodeUpstreamUnavailable, core.CodeOverloaded:
		return usage.Failed
	}
	return usage.Refused
}
