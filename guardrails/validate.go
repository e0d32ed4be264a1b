package guardrails

import "context"

// validate decodes the arguments and checks them against the operation's input schema.
// Later guardrails use the decoded arguments.
func validate(ctx context.Context, p *passage) error {
	in, err := p.op.Decode(p.call.Surface, p.req.Arguments)
	if err != nil {
		return err
	}
	p.in = in
	return p.next(ctx)
}
