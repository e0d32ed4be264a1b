package access

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core/jobs"
)

const (
	// GraceEvery is the pause between two runs of the job that revokes rotated keys. A key
	// is refused from the end of its grace period on, even if the job has not revoked it yet.
	GraceEvery = time.Minute
	graceBatch = 100
)

// GraceArgs is the empty argument of the job that revokes rotated keys after their grace
// period.
type GraceArgs struct{}

// Kind returns the name of the job that revokes rotated keys.
func (GraceArgs) Kind() string { return "api_key_grace" }

// GraceWorker returns the worker that revokes rotated keys at the end of their grace
// period.
func (l Lifecycle) GraceWorker(log *slog.Logger) jobs.Worker[GraceArgs] {
	return jobs.Worker[GraceArgs]{Every: GraceEvery, Work: func(ctx context.Context, _ GraceArgs) error {
		ended, err := l.ExpireGrace(ctx)
		if ended > 0 {
			log.InfoContext(ctx, "grace period of rotated API keys ended", "keys", ended)
		}
		return err
	}}
}

// ExpireGrace revokes rotated keys at the end of their 24 hours of grace, for all
// organizations. Each key is revoked in its own transaction. It returns how many keys it
// revoked.
func (l Lifecycle) ExpireGrace(ctx context.Context) (int, error) {
	for ended := 0; ; {
		keys, err := l.Keys.APIKeysPastGrace(ctx, l.Clock(), graceBatch)
		if err != nil {
			return ended, err
		}
		for _, key := range keys {
			mine, err := l.endGrace(ctx, key)
			if err != nil {
				return ended, err
			}
			if mine {
				ended++
			}
		}
		if len(keys) < graceBatch {
			return ended, nil
		}
	}
}

// endGrace revokes one key. It returns false if another process has revoked it already.
func (l Lifecycle) endGrace(ctx context.Context, found APIKey) (bool, error) {
	mine := false
	err := l.change(ctx, func(ctx context.Context, now time.Time) error {
		key, err := l.Keys.APIKey(ctx, found.OrgID, found.ID)
		if mine = err == nil && key.RevokedAt == nil; !mine {
			return err
		}
		if err := l.Keys.RevokeAPIKey(ctx, key.OrgID, key.ID, now); err != nil {
			return err
		}
		return l.record(ctx, now, AuditEntry{Actor: System(), Action: "api_key.grace_expired", OrgID: key.OrgID, Subject: key.ID})
	}, found.ID)
	return mine && err == nil, err
}
