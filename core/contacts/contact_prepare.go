package contacts

import (
	"context"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/lists"
)

// prepare checks a plan and then writes its consent to the sending account. It returns the
// write, which the transaction passes to the method store. The function changeOfLists
// returns the change of lists that the caller asked for; it is nil for a write that changes
// no lists. It is called before the account is written, so that an unknown list prevents
// the write.
func (wr writer) prepare(
	ctx context.Context, c *core.Call, plan Plan, changeOfLists func(orgID string) (*lists.Change, error),
) (*write, error) {
	org := c.Principal.Org.ID
	if err := wr.checkPlan(ctx, org, &plan); err != nil {
		return nil, err
	}
	if changeOfLists != nil {
		var err error
		if plan.Lists, err = changeOfLists(org); err != nil {
			return nil, err
		}
	}
	w := &write{Plan: plan}
	return w, wr.push(ctx, c, w)
}

// checkPlan checks that the plan's attributes are defined and converts their values to the
// defined types. It also checks that the sending account has the plan's topics. A value
// that does not fit its attribute is accepted if the contact already has it, so that a
// caller may write back what it read.
func (wr writer) checkPlan(ctx context.Context, org string, p *Plan) error {
	if len(p.Attributes) > 0 {
		coerced, err := wr.coerce(ctx, org, p)
		if err != nil {
			return err
		}
		p.Attributes = coerced
	}
	return wr.consents().checkTopics(ctx, org, p.Topics)
}

// coerce converts the plan's attribute values to the defined types; see checkPlan. It reads only
// the definitions that the plan names, unless a value is refused: the refusal suggests others.
func (wr writer) coerce(ctx context.Context, org string, p *Plan) (map[string]any, error) {
	named, err := wr.Attributes.AttributesNamed(ctx, org, slices.Collect(maps.Keys(p.Attributes)))
	if err != nil {
		return nil, err
	}
	if coerced, err := attributes.NewRegistry(named).Coerce(p.Attributes, nil); err == nil {
		return coerced, nil
	}
	r, err := wr.readRegistry(ctx, org)
	if err != nil {
		return nil, err
	}
	coerced, err := r.Coerce(p.Attributes, nil)
	if err != nil {
		if held, _, errFind := p.find(ctx, wr.Store, org); errFind == nil && held != nil {
			coerced, err = r.Coerce(p.Attributes, held.Attributes)
		}
	}
	return coerced, err
}
