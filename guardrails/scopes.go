package guardrails

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

func scopes(ctx context.Context, p *passage) error {
	if err := missingScope(p.info, p.call.Principal); err != nil {
		return err
	}
	return p.next(ctx)
}

// missingScope returns the refusal for the first scope that the principal lacks, or nil. Any
// valid credential may call an operation without scopes.
func missingScope(info core.OperationInfo, p core.Principal) error {
	missing := p.Scopes.Missing(info.Scopes)
	if missing == "" {
		return nil
	}
	return &core.Error{
		Code: core.CodeInvalidScope, Scope: missing,
		Message: "This credential lacks the scope `" + string(missing) + "`.",
		Next:    "Request a token with that scope, or use a credential that was given it.",
	}
}
