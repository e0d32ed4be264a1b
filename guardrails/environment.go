package guardrails

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

func environment(ctx context.Context, p *passage) error {
	if err := refuseTestEnvironment(p.info, p.call.Principal); err != nil {
		return err
	}
	return p.next(ctx)
}

// refuseTestEnvironment returns the refusal of a destroying operation for a test credential, else
// nil. Test credentials work on the same data as live ones.
func refuseTestEnvironment(info core.OperationInfo, p core.Principal) error {
	if info.Effect != core.Destroys || p.Credential.Environment != core.Test {
		return nil
	}
	return &core.Error{
		Code:    core.CodeTestEnvironmentForbidden,
		Message: "`" + info.Name + "` is refused to test credentials because they work on live data.",
	}
}
