package guardrails

import "context"

// validate decodes the arguments and checks them against the input schema. The rails after
// it use the decoded arguments.
func validate(ctx context.Context, p *passage) error {
	in, err := p.op.Decode(p.call.Surface, p.req.Arguments)
	if err != nil {
		return err
	}
	p.in = in
	return p.next(ctx)
}
