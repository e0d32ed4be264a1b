package guardrails

import "context"

// validate decodes the arguments once; from here on they are typed.
func validate(ctx context.Context, p *passage) error {
	in, err := p.op.Decode(p.call.Surface, p.req.Arguments)
	if err != nil {
		return err
	}
	p.in = in
	return p.next(ctx)
}
