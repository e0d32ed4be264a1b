package guardrails

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

func environment(ctx context.Context, p *passage) error {
	if err := refuseTestEnvironment(&p.info, &p.call.Principal); err != nil {
		return err
	}
	return p.next(ctx)
}

// refuseTestEnvironment returns an error if a test credential calls an operation that
// destroys data, because test credentials work on live data. Otherwise it returns nil.
func refuseTestEnvironment(info *core.OperationInfo, p *core.Principal) error {
	if info.Effect != core.Destroys || p.Credential.Environment != core.Test {
		return nil
	}
	return &core.Error{
		Code:    core.CodeTestEnvironmentForbidden,
		Message: "`" + info.Name + "` is refused to test credentials because they work on live data.",
	}
}
