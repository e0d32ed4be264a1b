package people

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/letters"
)

const (
	// WarnEvery is the shortest time between two letters that warn a person about wrong
	// passwords.
	WarnEvery = 24 * time.Hour
	// WarningKept is how long the security page shows a warning.
	WarningKept = 30 * 24 * time.Hour
)

// Warning is the record that many wrong passwords were tried for a person's address. At is
// the time.
type Warning struct{ At time.Time }

// Warnings reads warnings about wrong passwords.
type Warnings struct {
	Store Store
	Clock core.Clock
}

// LastWarning returns the last warning about wrong passwords. It returns false if there was
// none within [WarningKept].
func (w Warnings) LastWarning(ctx context.Context, userID string) (Warning, bool, error) {
	at, err := w.Store.WarnedAt(ctx, userID)
	if core.IsNotFound(err) || err == nil && w.Clock().Sub(at) > WarningKept {
		return Warning{}, false, nil
	}
	return Warning{At: at}, err == nil, err
}

// WarnArgs is the argument of the job that warns the owner of an address about wrong
// passwords.
type WarnArgs struct {
	Email string `json:"email"`
}

// Kind returns the name of the job that warns the owner of an address.
func (WarnArgs) Kind() string { return "people_warn" }

// WarnWorker returns the worker that warns the owner of an address about wrong passwords.
// It warns on the security page, in the audit log of each organization of the person, and
// by mail. Of several concurrent jobs, only one warns.
func (m *Mail) WarnWorker() jobs.Worker[WarnArgs] {
	return jobs.Worker[WarnArgs]{Work: func(ctx context.Context, args WarnArgs) error {
		user, err := m.cfg.Sessions.Users.UserByEmail(ctx, args.Email)
		if core.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("person: %w", err)
		}
		now := m.cfg.Sessions.Clock()
		return m.cfg.Sessions.Tx.InTx(ctx, func(ctx context.Context) error {
			first, err := m.cfg.Store.Warn(ctx, user.ID, now, now.Add(-WarnEvery))
			if err != nil || !first {
				return err
			}
			if err := m.cfg.Sessions.AuditEverywhere(ctx, access.System(), user.ID, "user.wrong_passwords", ""); err != nil {
				return err
			}
			return Notices{m.cfg.Queue}.EnqueueNotice(ctx, user.ID, letters.WrongPasswords, letters.Event{At: now})
		})
	}}
}
