package guardrails

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

func scopes(ctx context.Context, p *passage) error {
	if err := missingScope(&p.info, &p.call.Principal); err != nil {
		return err
	}
	return p.next(ctx)
}

// missingScope returns an error if the principal lacks a scope that the operation needs. It
// names the first missing one. An operation without scopes may be called with any valid
// credential.
func missingScope(info *core.OperationInfo, p *core.Principal) error {
	missing := p.Scopes.FirstMissing(info.Scopes)
	if missing == "" {
		return nil
	}
	return &core.Error{
		Code: core.CodeInvalidScope, Scope: missing,
		Message: "This credential lacks the scope `" + string(missing) + "`.",
		Next:    "Request a token with that scope, or use a credential that was given it.",
	}
}
