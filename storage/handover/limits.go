package handover

import (
	"context"

	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// LimitStore stores the limits of organizations.
type LimitStore struct{ db *engine.DB }

var _ handover.LimitStore = LimitStore{}

// NewLimitStore returns the store of limits on the database.
func NewLimitStore(db *engine.DB) LimitStore { return LimitStore{db} }

var (
	// mailStop selects the stop that a person set, or the deletion of the organization, which
	// stops all mail too.
	mailStop = engine.RegisterPoint("stop of all mail", `
		SELECT stopped_at, stopped_by FROM handover_stops WHERE org_id = $1
		UNION ALL SELECT deleted_at AS stopped_at, 'mailhelm' AS stopped_by FROM orgs WHERE id = $1 AND deleted_at IS NOT NULL`)
	stopMail  = engine.Register("stop all mail", `INSERT INTO handover_stops (org_id, stopped_at, stopped_by) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`)
	startMail = engine.Register("end stop of all mail", `DELETE FROM handover_stops WHERE org_id = $1`)

	capOf   = engine.RegisterPoint("cap of an application", `SELECT recipients FROM handover_caps WHERE org_id = $1 AND application = $2`)
	allCaps = engine.Register("caps of applications", `SELECT application, recipients FROM handover_caps WHERE org_id = $1`)
	saveCap = engine.Register("save cap", `
		INSERT INTO handover_caps (org_id, application, recipients) VALUES ($1, $2, $3)
		ON CONFLICT (org_id, application) DO UPDATE SET recipients = excluded.recipients`)
	dropCap = engine.Register("drop cap", `DELETE FROM handover_caps WHERE org_id = $1 AND application = $2`)
	// lockDay creates the number of a day and locks it, so that sends of one application do
	// not exceed its cap together.
	lockDay = engine.Register("lock day of an application", `
		INSERT INTO handover_days (org_id, application, day, recipients) VALUES ($1, $2, $3, 0)
		ON CONFLICT (org_id, application, day) DO UPDATE SET recipients = handover_days.recipients
		RETURNING recipients`)
	useDay = engine.Register("count recipients of an application", `
		INSERT INTO handover_days (org_id, application, day, recipients) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id, application, day) DO UPDATE SET recipients = handover_days.recipients + excluded.recipients`)
	giveBack = engine.Register("give back recipients of an application", `
		UPDATE handover_days SET recipients = recipients - $1 WHERE org_id = $2 AND application = $3 AND day = $4`)
	usedOn = engine.RegisterPoint("recipients of an application on a day", `
		SELECT recipients FROM handover_days WHERE org_id = $1 AND application = $2 AND day = $3`)
	dropDays = engine.Register("drop days of an application", `DELETE FROM handover_days WHERE org_id = $1 AND application = $2 AND day < $3`)
)

// stopRow is a row of handover_stops.
type stopRow struct {
	At engine.Time `db:"stopped_at"`
	By string      `db:"stopped_by"`
}

// capRow is a row of handover_caps.
type capRow struct {
	Application string `db:"application"`
	Recipients  int    `db:"recipients"`
}

func (s LimitStore) Limit(ctx context.Context, orgID, application string, day int) (handover.Limit, error) {
	stop, err := s.Stopped(ctx, orgID)
	if err != nil {
		return handover.Limit{}, err
	}
	limit := handover.Limit{Stopped: stop != nil}
	if application == "" {
		return limit, nil
	}
	caps, err := engine.Values[int](ctx, s.db, capOf, orgID, application)
	if err != nil || len(caps) == 0 {
		return limit, err
	}
	used, err := engine.Values[int](ctx, s.db, lockDay, orgID, application, day)
	if err != nil {
		return limit, err
	}
	limit.Cap, limit.Used = &caps[0], used[0]
	return limit, nil
}

func (s LimitStore) Use(ctx context.Context, orgID, application string, day, recipients int) error {
	if _, err := s.db.Exec(ctx, dropDays, orgID, application, day); err != nil {
		return err
	}
	_, err := s.db.Exec(ctx, useDay, orgID, application, day, recipients)
	return err
}

func (s LimitStore) Used(ctx context.Context, orgID, application string, day int) (int, error) {
	used, err := engine.Values[int](ctx, s.db, usedOn, orgID, application, day)
	if err != nil || len(used) == 0 {
		return 0, err
	}
	return used[0], nil
}

func (s LimitStore) GiveBack(ctx context.Context, orgID, application string, day, recipients int) error {
	_, err := s.db.Exec(ctx, giveBack, recipients, orgID, application, day)
	return err
}

func (s LimitStore) Stopped(ctx context.Context, orgID string) (*handover.Stop, error) {
	rows, err := engine.List[stopRow](ctx, s.db, mailStop, orgID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &handover.Stop{At: rows[0].At.Time(), By: rows[0].By}, nil
}

func (s LimitStore) SetStop(ctx context.Context, orgID string, stop *handover.Stop) error {
	if stop == nil {
		_, err := s.db.Exec(ctx, startMail, orgID)
		return err
	}
	_, err := s.db.Exec(ctx, stopMail, orgID, engine.At(stop.At), stop.By)
	return err
}

func (s LimitStore) Caps(ctx context.Context, orgID string) (map[string]int, error) {
	rows, err := engine.List[capRow](ctx, s.db, allCaps, orgID)
	caps := make(map[string]int, len(rows))
	for _, r := range rows {
		caps[r.Application] = r.Recipients
	}
	return caps, err
}

func (s LimitStore) SetCap(ctx context.Context, orgID, application string, recipients *int) error {
	if recipients == nil {
		_, err := s.db.Exec(ctx, dropCap, orgID, application)
		return err
	}
	_, err := s.db.Exec(ctx, saveCap, orgID, application, *recipients)
	return err
}
