package closing

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core/access"
)

// Disable keeps a person from signing in. It ends the person's sessions, reset links and
// grants to applications. Memberships, second factors and API keys stay. Repeating it keeps
// the time of the first call. It fails with core.CodeNotFound for an unknown person.
func (p People) Disable(ctx context.Context, actor access.Actor, userID string, o Options) (Access, error) {
	var ended Access
	err := p.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := p.hold(ctx, userID); err != nil {
			return err
		}
		now := p.Clock()
		a, err := p.look(ctx, userID, now)
		if err != nil {
			return err
		}
		if err := p.endAccess(ctx, actor, &a, o, now); err != nil {
			return err
		}
		if a.User.DisabledAt == nil {
			if err := p.Store.SetDisabled(ctx, userID, &now); err != nil {
				return fmt.Errorf("disable: %w", err)
			}
			a.User.DisabledAt = &now
			if err := p.record(ctx, now, actor, a, "user.disabled", o); err != nil {
				return err
			}
		}
		ended = a
		return nil
	})
	if err == nil {
		p.forget(ended)
	}
	return ended, err
}

// Enable lets a disabled person sign in again. Sessions, grants and keys that ended stay
// ended. Enabling an enabled person changes nothing. It fails with core.CodeNotFound for an
// unknown person.
func (p People) Enable(ctx context.Context, actor access.Actor, userID string) (access.User, error) {
	var enabled access.User
	err := p.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := p.hold(ctx, userID); err != nil {
			return err
		}
		now := p.Clock()
		a, err := p.look(ctx, userID, now)
		if err != nil {
			return err
		}
		enabled = a.User
		if a.User.DisabledAt == nil {
			return nil
		}
		if err := p.Store.SetDisabled(ctx, userID, nil); err != nil {
			return fmt.Errorf("enable: %w", err)
		}
		enabled.DisabledAt = nil
		return p.record(ctx, now, actor, a, "user.enabled", Options{})
	})
	return enabled, err
}
