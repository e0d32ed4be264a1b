package guardrails

import (
	"context"

	"github.com/mailhelm/mailhelm/core/apart"
)

// validate decodes the arguments and checks them against the operation's input schema.
// Later guardrails use the decoded arguments.
func validate(ctx context.Context, p *passage) error {
	var err error
	if p.info.Waits {
		apart.Run(func() { err = p.decode() })
	} else {
		err = p.decode()
	}
	if err != nil {
		return err
	}
	return p.next(ctx)
}

func (p *passage) decode() (err error) {
	p.in, err = p.op.Decode(p.call.Surface, p.req.Arguments)
	return err
}
