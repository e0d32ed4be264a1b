package broadcasts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/tags"
)

// Store stores broadcasts.
type Store struct{ db *engine.DB }

// pageFrom is the beginning of the queries for pages of broadcasts.
const pageFrom = `
		SELECT ` + shortColumns + ` FROM broadcasts AS b
		WHERE b.org_id = $1 AND (b.created_at, b.id) < ($2, $3) AND b.search LIKE $4 ESCAPE '\' AND b.state LIKE $5`

var (
	_ broadcasts.Store     = Store{}
	_ broadcasts.OpenStore = Store{}
)

// New returns the store of broadcasts on the database.
func New(db *engine.DB) Store { return Store{db} }

var (
	insertBroadcast = engine.Register("insert broadcast", `
		INSERT INTO broadcasts (org_id, id, name, search, template, template_version, html, body_text, subject, preview_text,
			audience_kind, audience_id, share_from, share_to, share_rest, topic, sender, data, state, schedule_at, rate, paced_at, paused, paused_at, resumes_at, frozen,
			audience_size, sent, failed, filtered, started_at, completed_at, created_at, updated_at, created_by_kind, created_by, user_id, application, revision)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
			$24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39)`)
	updateBroadcast = engine.Register("update broadcast", `
		UPDATE broadcasts SET name = $1, search = $2, template = $3, template_version = $4, html = $5, body_text = $6, subject = $7, preview_text = $8,
			audience_kind = $9, audience_id = $10, share_from = $11, share_to = $12, share_rest = $13, topic = $14, sender = $15,
			data = $16, state = $17, schedule_at = $18, rate = $19, paced_at = $20, paused = $21, paused_at = $22, resumes_at = $23,
			frozen = $24, audience_size = $25, sent = $26, failed = $27, filtered = $28, started_at = $29, completed_at = $30,
			updated_at = $31, application = $32, revision = $33
		WHERE org_id = $34 AND id = $35`)
	deleteBroadcast  = engine.Register("delete broadcast", `DELETE FROM broadcasts WHERE org_id = $1 AND id = $2`)
	deleteTags       = engine.Register("delete tags of a broadcast", `DELETE FROM broadcast_tags WHERE org_id = $1 AND broadcast_id = $2`)
	deleteRecipients = engine.Register("delete recipients of a broadcast", `DELETE FROM handover_recipients WHERE org_id = $1 AND send_id = $2`)
	broadcastByID    = engine.RegisterPoint("broadcast", `SELECT `+columns+` FROM broadcasts AS b WHERE b.org_id = $1 AND b.id = $2`)
	lockBroadcast    = engine.Register("lock broadcast", `SELECT `+columns+` FROM broadcasts AS b WHERE b.org_id = $1 AND b.id = $2 /*pg FOR UPDATE*/`)
	// broadcastsPage selects a page of broadcasts after the cursor, newest first, through the
	// index broadcasts_newest. It compares the other conditions row by row.
	broadcastsPage = engine.Register("broadcasts page", pageFrom+`
		ORDER BY b.created_at DESC, b.id DESC LIMIT $6`)
	// taggedPage and untaggedPage select pages of the broadcasts with a tag and of those
	// without any.
	taggedPage = engine.Register("tagged broadcasts page", pageFrom+`
		AND `+tags.OfBroadcasts.Has("b", "$6")+`
		ORDER BY b.created_at DESC, b.id DESC LIMIT $7`)
	untaggedPage = engine.Register("untagged broadcasts page", pageFrom+`
		AND `+tags.OfBroadcasts.HasNone("b")+`
		ORDER BY b.created_at DESC, b.id DESC LIMIT $6`)
	countByState = engine.Register("count broadcasts", `
		SELECT state, count(*) AS broadcasts FROM broadcasts WHERE org_id = $1 GROUP BY state`)
	lockProgress = engine.Register("lock progress of a broadcast", `
		SELECT state, paused, rate, paced_at FROM broadcasts WHERE org_id = $1 AND id = $2 /*pg FOR UPDATE*/`)
	failedSince = engine.Register("failed broadcasts", `
		SELECT id FROM broadcasts WHERE org_id = $1 AND failed > 0 AND completed_at > $2`)
	// setCounts ignores numbers that another process has replaced by newer ones: while a broadcast
	// sends, the number of its recipients with an outcome only grows.
	setCounts = engine.Register("set counts of a broadcast", `
		UPDATE broadcasts SET sent = $1, failed = $2, filtered = $3
		WHERE org_id = $4 AND id = $5 AND state = 'sending' AND sent + failed + filtered <= $6`)
	setPace = engine.Register("set pace of a broadcast", `
		UPDATE broadcasts SET paced_at = $1 WHERE org_id = $2 AND id = $3`)
	setPause = engine.Register("set pause of a broadcast", `
		UPDATE broadcasts SET paused = $1, paused_at = $2, resumes_at = $3
		WHERE org_id = $4 AND id = $5 AND paused NOT IN ('person', 'cannot_be_sent') AND state IN ('scheduled', 'sending')`)
	// openBroadcasts reads the partial index broadcasts_open, which has only the broadcasts
	// that are scheduled or sending, of all organizations.
	openBroadcasts = engine.Register("open broadcasts", `
		SELECT org_id, id FROM broadcasts
		WHERE paused NOT IN ('person', 'cannot_be_sent') AND (state = 'sending' OR state = 'scheduled' AND schedule_at <= $1)
			AND `+engine.NotDeleted("org_id")+`
		ORDER BY random() LIMIT $2`)
)

func (s Store) Insert(ctx context.Context, orgID string, b broadcasts.Broadcast) error {
	data, err := encodeData(b.Data)
	if err != nil {
		return err
	}
	paused, since, resumes := pauseColumns(b.Paused)
	from, to, rest := shareColumns(b.Share)
	_, err = s.db.Exec(ctx, insertBroadcast, orgID, b.ID, b.Name, engine.SearchText(b.Name, b.Subject), b.Template, b.TemplateVersion, b.HTML, b.Text,
		b.Subject, b.PreviewText, string(b.AudienceKind), b.AudienceID, from, to, rest, b.Topic, b.From, data, string(b.State), atOrNil(b.ScheduleAt), b.Rate,
		engine.At(b.PacedAt), paused, since, resumes, b.Frozen, b.AudienceSize, b.Sent, b.Failed, b.Filtered, atOrNil(b.StartedAt), atOrNil(b.CompletedAt),
		engine.At(b.CreatedAt), engine.At(b.UpdatedAt), b.CreatedBy.Kind, b.CreatedBy.ID, b.CreatedBy.UserID, b.Application, b.Revision)
	return err
}

func (s Store) Update(ctx context.Context, orgID string, b broadcasts.Broadcast) error {
	data, err := encodeData(b.Data)
	if err != nil {
		return err
	}
	paused, since, resumes := pauseColumns(b.Paused)
	from, to, rest := shareColumns(b.Share)
	return s.db.Change(ctx, resource, updateBroadcast, b.Name, engine.SearchText(b.Name, b.Subject), b.Template, b.TemplateVersion, b.HTML, b.Text,
		b.Subject, b.PreviewText, string(b.AudienceKind), b.AudienceID, from, to, rest, b.Topic, b.From, data, string(b.State), atOrNil(b.ScheduleAt), b.Rate,
		engine.At(b.PacedAt), paused, since, resumes, b.Frozen, b.AudienceSize, b.Sent, b.Failed, b.Filtered, atOrNil(b.StartedAt), atOrNil(b.CompletedAt),
		engine.At(b.UpdatedAt), b.Application, b.Revision, orgID, b.ID)
}

// resource is the name of a broadcast in errors.
const resource = "broadcast"

// encodeData returns the data of a broadcast as JSON.
func encodeData(data map[string]any) (string, error) {
	if data == nil {
		data = map[string]any{}
	}
	text, err := json.Marshal(data)
	if err != nil {
		return "", fmt.Errorf("storage: data of a broadcast: %w", err)
	}
	return string(text), nil
}

func (s Store) Delete(ctx context.Context, orgID, id string) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.db.Change(ctx, resource, deleteBroadcast, orgID, id); err != nil {
			return err
		}
		if _, err := s.db.Exec(ctx, deleteTags, orgID, id); err != nil {
			return err
		}
		_, err := s.db.Exec(ctx, deleteRecipients, orgID, id)
		return err
	})
}

func (s Store) Broadcast(ctx context.Context, orgID, id string) (broadcasts.Broadcast, error) {
	found, err := engine.One[row](ctx, s.db, resource, s.db.LockedInside(ctx, broadcastByID, lockBroadcast), orgID, id)
	if err != nil {
		return broadcasts.Broadcast{}, err
	}
	return found.broadcast()
}

func (s Store) Broadcasts(ctx context.Context, orgID string, f broadcasts.Filter) ([]broadcasts.Broadcast, error) {
	created, id := engine.PageStart(f.After)
	state := string(f.State)
	if state == "" {
		state = "%"
	}
	query, args := broadcastsPage, []any{orgID, created, id, engine.SearchPattern(f.Query), state}
	switch {
	case f.Tag != "":
		query, args = taggedPage, append(args, f.Tag)
	case f.Untagged:
		query = untaggedPage
	}
	return engine.ListParsed(ctx, s.db, row.broadcast, query, append(args, f.Limit)...)
}

func (s Store) CountByState(ctx context.Context, orgID string) (map[broadcasts.State]int, error) {
	type stateRow struct {
		State      broadcasts.State `db:"state"`
		Broadcasts int              `db:"broadcasts"`
	}
	rows, err := engine.List[stateRow](ctx, s.db, countByState, orgID)
	counts := make(map[broadcasts.State]int, len(rows))
	for _, r := range rows {
		counts[r.State] = r.Broadcasts
	}
	return counts, err
}

func (s Store) LockProgress(ctx context.Context, orgID, id string) (broadcasts.Progress, error) {
	type progressRow struct {
		State   broadcasts.State       `db:"state"`
		Paused  broadcasts.PauseReason `db:"paused"`
		Rate    int                    `db:"rate"`
		PacedAt engine.Time            `db:"paced_at"`
	}
	found, err := engine.One[progressRow](ctx, s.db, resource, lockProgress, orgID, id)
	return broadcasts.Progress{State: found.State, Paused: found.Paused, Rate: found.Rate, PacedAt: found.PacedAt.Time()}, err
}

func (s Store) FailedSince(ctx context.Context, orgID string, since time.Time) ([]string, error) {
	return engine.Values[string](ctx, s.db, failedSince, orgID, engine.At(since))
}

func (s Store) SetCounts(ctx context.Context, orgID, id string, sent, failed, filtered int) error {
	_, err := s.db.Exec(ctx, setCounts, sent, failed, filtered, orgID, id, sent+failed+filtered)
	return err
}

func (s Store) SetPace(ctx context.Context, orgID, id string, at time.Time) error {
	_, err := s.db.Exec(ctx, setPace, engine.At(at), orgID, id)
	return err
}

func (s Store) SetPause(ctx context.Context, orgID, id string, p *broadcasts.Pause) error {
	reason, since, resumes := pauseColumns(p)
	_, err := s.db.Exec(ctx, setPause, reason, since, resumes, orgID, id)
	return err
}

func (s Store) Open(ctx context.Context, now time.Time, limit int) ([]broadcasts.OpenSend, error) {
	type openRow struct {
		OrgID string `db:"org_id"`
		ID    string `db:"id"`
	}
	return engine.ListAs(ctx, s.db, func(r openRow) broadcasts.OpenSend { return broadcasts.OpenSend(r) }, openBroadcasts, engine.At(now), limit)
}
