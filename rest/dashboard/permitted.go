package dashboard

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// permitted are transactions of a visitor in each of which it is asked again whether
// they may. They could when the request was admitted; a member may have lost the
// permission while the request waited, and then nothing is done.
type permitted struct {
	core.Transactor
	require func(context.Context) error
}

// permitted is the transactions in which v does what takes the permission.
func (d *Dashboard) permitted(v access.Visitor, needs access.Permission) core.Transactor {
	return permitted{d.Transactor, func(ctx context.Context) error {
		return d.memberships().Require(ctx, access.ActorOf(v.User.ID), v.Org.ID, needs)
	}}
}

// belonging is the transactions in which v does what every member may.
func (d *Dashboard) belonging(v access.Visitor) core.Transactor {
	return permitted{d.Transactor, func(ctx context.Context) error {
		return d.memberships().RequireMember(ctx, access.ActorOf(v.User.ID), v.Org.ID)
	}}
}

// InTx does f unless the visitor may not any more, which it refuses with
// invalid_scope. The members stay held until the end.
func (p permitted) InTx(ctx context.Context, f func(context.Context) error) error {
	return p.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := p.require(ctx); err != nil {
			return err
		}
		return f(ctx)
	})
}

// managingCredentials does something in a transaction of somebody who may manage
// credentials. The member it is handed is the visitor as they are in that moment,
// whose permissions are the most that they can give a program.
func (d *Dashboard) managingCredentials(ctx context.Context, v access.Visitor, do func(context.Context, access.Member) error) error {
	return d.permitted(v, access.MayManageCredentials).InTx(ctx, func(ctx context.Context) error {
		m, err := d.Members.Member(ctx, v.Org.ID, v.User.ID)
		if err != nil {
			return err
		}
		return do(ctx, m)
	})
}
