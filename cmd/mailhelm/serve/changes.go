package serve

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
)

// reloadTimeout limits one reload of the signing keys, so that an unresponsive database
// does not delay the handling of the next change of access data.
const reloadTimeout = 2 * time.Second

// followChanges applies the changes that this or another process commits, such as a revoked key or a new
// webhook endpoint, until ctx ends. On SQLite it does nothing: one server process uses the database, and what
// the commands of `mailhelm admin` change applies within a minute.
func (s *stores) followChanges(ctx context.Context, settings remembered, log *slog.Logger) {
	s.db.FollowAccessChanges(ctx, func(c access.Change) {
		switch s.apply(ctx, c, log); c.Kind {
		case access.OrgChanged:
			settings.forget(c.ID)
		case access.Anything:
			settings.forgetAll()
		}
	})
}

// apply handles a change of access data, such as a revoked key. It removes the callers that the change affects
// from the cache, which a worker does not have. It reloads the signing keys if they may have changed. It logs
// a failed reload and does not repeat it, because the method follow also reloads the keys regularly.
func (s *stores) apply(ctx context.Context, c access.Change, log *slog.Logger) {
	if s.principals == nil {
		return
	}
	if c.Kind == access.SigningKeyChanged || c.Kind == access.Anything {
		bounded, cancel := context.WithTimeout(ctx, reloadTimeout)
		defer cancel()
		if err := s.signing.Reload(bounded); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "signing keys not reloaded", "cause", err)
		}
	}
	s.principals.Apply(c)
}
