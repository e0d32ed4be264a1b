package replay

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// ProcessStore stores the heartbeats of server processes.
type ProcessStore struct{ db *engine.DB }

var _ replay.ProcessStore = ProcessStore{}

// NewProcessStore returns the store of the processes' heartbeats on the database.
func NewProcessStore(db *engine.DB) ProcessStore { return ProcessStore{db} }

// processKept is how long after its last heartbeat a process stays stored. A process that
// is not stored counts as ended, so that its reservations of idempotency keys can be taken
// over. Therefore processKept is longer than any reservation, and than any difference
// between the clocks of two processes.
const processKept = 24 * time.Hour

var (
	beatProcess = engine.Register("beat of process", `
		INSERT INTO processes (id, beat_at, role) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at`)
	processBeats   = engine.Register("beats of processes", `SELECT id, beat_at, role FROM processes`)
	endProcess     = engine.Register("end process", `DELETE FROM processes WHERE id = $1`)
	purgeProcesses = engine.Register("purge processes", `DELETE FROM processes WHERE beat_at <= $1`)
	// endReservations deletes reservations of idempotency keys, except those of process $3.
	// $1 is the current time and $2 the latest time at which a reservation can expire. With
	// these limits, the statement uses the index on expires_at.
	endReservations = engine.Register("end reservations", `
		DELETE FROM replay_records WHERE expires_at > $1 AND expires_at <= $2 AND NOT done AND process <> $3`)
)

// beatRow has the id of a server process and its last heartbeat.
type beatRow struct {
	ID     string      `db:"id"`
	BeatAt engine.Time `db:"beat_at"`
	Role   string      `db:"role"`
}

func (s ProcessStore) Beat(ctx context.Context, process string, beat replay.Heartbeat) error {
	_, err := s.db.Exec(ctx, beatProcess, process, engine.At(beat.At), beat.Role)
	return err
}

func (s ProcessStore) Beats(ctx context.Context) (map[string]replay.Heartbeat, error) {
	rows, err := engine.List[beatRow](ctx, s.db, processBeats)
	if err != nil {
		return nil, err
	}
	beats := make(map[string]replay.Heartbeat, len(rows))
	for _, r := range rows {
		beats[r.ID] = replay.Heartbeat{At: r.BeatAt.Time(), Role: r.Role}
	}
	return beats, nil
}

func (s ProcessStore) EndProcess(ctx context.Context, process string) error {
	_, err := s.db.Exec(ctx, endProcess, process)
	return err
}

// EndReservations deletes the reservations of idempotency keys by all processes except one.
// An installation with a single process calls it at its start, because all earlier
// processes have ended.
func (s ProcessStore) EndReservations(ctx context.Context, except string, now time.Time) (int, error) {
	return s.db.Exec(ctx, endReservations, engine.At(now), engine.At(now.Add(replay.Lease)), except)
}
