package handover

import (
	"context"
	"time"
)

// Hold is the reason why no recipient of a send may be claimed now.
type Hold string

// The reasons.
const (
	// AllMailStopped: a person stopped all mail of the organization.
	AllMailStopped Hold = "all_mail_stopped"
	// DailyCap: the application of the send has mailed as many recipients today (UTC) as it
	// may.
	DailyCap Hold = "daily_cap"
)

// Allowance says how many recipients of a send may be claimed now.
type Allowance struct {
	Recipients int
	// Until is the time before which nothing may be claimed, if Recipients is 0; zero if that
	// is not known.
	Until time.Time
	// Hold is the reason if Recipients is 0 because of a limit, "" otherwise.
	Hold Hold
}

// Limit has the limits of an organization and of one of its applications on one day.
type Limit struct {
	// Stopped is true if no mail of the organization may leave.
	Stopped bool
	// Cap is the maximum number of recipients a day of the application; nil for no limit.
	Cap *int
	// Used is the number of recipients that the application has mailed on the day, with those
	// that are being mailed.
	Used int
}

// Stop says since when no mail of an organization leaves, and which user stopped it.
type Stop struct {
	At time.Time
	By string
}

// LimitStore stores the limits of organizations. Every method sees only the given
// organization and takes part in the transaction of its context.
type LimitStore interface {
	// Limit returns the limits on a day, counted from 1970-01-01. application is the id of an
	// application, "" for none. If the application has a cap, Limit locks its number of the
	// day until the transaction ends.
	Limit(ctx context.Context, orgID, application string, day int) (Limit, error)
	// Use adds recipients to the number of the day.
	Use(ctx context.Context, orgID, application string, day, recipients int) error
	// Used returns the number of the day, also for an application without a cap.
	Used(ctx context.Context, orgID, application string, day int) (int, error)
	// GiveBack subtracts recipients, which got no mail, from the number of the day.
	GiveBack(ctx context.Context, orgID, application string, day, recipients int) error
	// Stopped returns the stop of all mail, nil for none. SetStop stores it, or removes it if
	// stop is nil.
	Stopped(ctx context.Context, orgID string) (*Stop, error)
	SetStop(ctx context.Context, orgID string, stop *Stop) error
	// Caps returns the caps of applications. SetCap stores one, or removes it if recipients
	// is nil.
	Caps(ctx context.Context, orgID string) (map[string]int, error)
	SetCap(ctx context.Context, orgID, application string, recipients *int) error
}

// UsedToday returns the number of recipients that an application has mailed since midnight
// UTC, with those that are being mailed.
func UsedToday(ctx context.Context, store LimitStore, orgID, application string, now time.Time) (int, error) {
	return store.Used(ctx, orgID, application, dayOf(now))
}

// dayOf returns the day of a time in UTC, counted from 1970-01-01.
func dayOf(t time.Time) int { return int(t.Unix() / int64(24*time.Hour/time.Second)) }

// nextDay returns the beginning of the day after t in UTC.
func nextDay(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) }

// allow returns how many of up to want recipients the limits permit now. It must be called
// in the transaction that claims them.
func (h *Handover) allow(ctx context.Context, orgID string, m Mailing, want int, now time.Time) (Allowance, error) {
	limit, err := h.Limits.Limit(ctx, orgID, m.Application(), dayOf(now))
	if err != nil {
		return Allowance{}, err
	}
	if limit.Stopped {
		return Allowance{Hold: AllMailStopped}, nil
	}
	if limit.Cap == nil {
		return Allowance{Recipients: want}, nil
	}
	left := min(want, *limit.Cap-limit.Used)
	if left <= 0 {
		return Allowance{Hold: DailyCap, Until: nextDay(now)}, nil
	}
	return Allowance{Recipients: left}, nil
}
