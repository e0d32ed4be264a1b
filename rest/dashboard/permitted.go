package dashboard

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// permitted are transactions of a visitor in each of which their permission is looked
// at again. It was there when the request was admitted; a member may have lost it
// while the request waited, and then nothing is done.
type permitted struct {
	d     *Dashboard
	v     access.Visitor
	needs access.Permission
}

var _ core.Transactor = permitted{}

// permitted is the transactions in which v does what takes the permission.
func (d *Dashboard) permitted(v access.Visitor, needs access.Permission) core.Transactor {
	return permitted{d, v, needs}
}

// InTx does f unless the visitor lost the permission, which it refuses with
// invalid_scope. The members stay held until the end.
func (p permitted) InTx(ctx context.Context, f func(context.Context) error) error {
	return p.d.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := p.d.memberships().Require(ctx, access.ActorOf(p.v.User.ID), p.v.Org.ID, p.needs); err != nil {
			return err
		}
		return f(ctx)
	})
}
