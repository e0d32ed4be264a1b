package approvals

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores approvals.
type Store struct{ db *engine.DB }

var _ approvals.Store = Store{}

// New returns the store of approvals on the database.
func New(db *engine.DB) Store { return Store{db} }

// row is an approval.
type row struct {
	ID           string       `db:"id"`
	BroadcastID  string       `db:"broadcast_id"`
	State        string       `db:"state"`
	AskedKind    string       `db:"asked_kind"`
	AskedBy      string       `db:"asked_by"`
	AskedUser    string       `db:"asked_user"`
	RequestedAt  engine.Time  `db:"requested_at"`
	ExpiresAt    engine.Time  `db:"expires_at"`
	Revision     int          `db:"revision"`
	ScheduledAt  *engine.Time `db:"scheduled_at"`
	Digest       string       `db:"digest"`
	Preview      string       `db:"preview"`
	DecidedAt    *engine.Time `db:"decided_at"`
	DecidedBy    string       `db:"decided_by"`
	Reason       string       `db:"reason"`
	ApprovedSize int          `db:"approved_size"`
}

const columns = `a.id, a.broadcast_id, a.state, a.asked_kind, a.asked_by, a.asked_user, a.requested_at, a.expires_at, a.revision, a.scheduled_at, a.digest,
	a.preview, a.decided_at, a.decided_by, a.reason, a.approved_size`

// approval converts the row.
func (r row) approval() (approvals.Approval, error) {
	a := approvals.Approval{
		ID: r.ID, BroadcastID: r.BroadcastID, State: approvals.State(r.State), AskedBy: approvals.Caller{Kind: core.CredentialKind(r.AskedKind), ID: r.AskedBy, UserID: r.AskedUser},
		RequestedAt: r.RequestedAt.Time(), ExpiresAt: r.ExpiresAt.Time(), Revision: r.Revision, ScheduledAt: engine.OptionalTime(r.ScheduledAt),
		Digest: r.Digest, DecidedAt: engine.OptionalTime(r.DecidedAt), DecidedBy: r.DecidedBy, Reason: r.Reason, ApprovedSize: r.ApprovedSize,
	}
	if err := json.Unmarshal([]byte(r.Preview), &a.Preview); err != nil {
		return approvals.Approval{}, fmt.Errorf("storage: preview of an approval: %w", err)
	}
	return a, nil
}

var (
	insertApproval = engine.Register("insert approval", `
		INSERT INTO send_approvals (org_id, id, broadcast_id, state, asked_kind, asked_by, asked_user, requested_at, expires_at, revision, scheduled_at, digest,
			preview, decided_at, decided_by, reason, approved_size)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`)
	approvalByID = engine.RegisterPoint("approval", `SELECT `+columns+` FROM send_approvals AS a WHERE a.org_id = $1 AND a.id = $2`)
	// latestApprovals reads the approvals of each broadcast in the index
	// send_approvals_of_broadcast.
	latestApprovals = engine.Register("latest approvals", `
		SELECT `+columns+` FROM `+engine.ParameterRows("$1")+` JOIN send_approvals AS a
			ON a.org_id = $2 AND a.broadcast_id = CAST(j.v ->> 'id' AS bytetext)
		WHERE NOT EXISTS (SELECT 1 FROM send_approvals AS n WHERE n.org_id = a.org_id AND n.broadcast_id = a.broadcast_id
			AND (n.requested_at, n.id) > (a.requested_at, a.id))`)
	endApproval = engine.Register("end approval", `
		UPDATE send_approvals SET state = $1, decided_at = $2, decided_by = $3, reason = $4, approved_size = $5
		WHERE org_id = $6 AND id = $7 AND state = 'pending'`)
	waitingPage = engine.Register("waiting approvals page", `
		SELECT `+columns+` FROM send_approvals AS a
		WHERE a.org_id = $1 AND (a.requested_at, a.id) < ($2, $3) AND a.state = 'pending'
		ORDER BY a.requested_at DESC, a.id DESC LIMIT $4`)
	decidedPage = engine.Register("decided approvals page", `
		SELECT `+columns+` FROM send_approvals AS a
		WHERE a.org_id = $1 AND (a.requested_at, a.id) < ($2, $3) AND a.state NOT IN ('pending', 'unneeded')
		ORDER BY a.requested_at DESC, a.id DESC LIMIT $4`)
	countWaiting = engine.Register("count waiting approvals", `
		SELECT count(*) FROM send_approvals WHERE org_id = $1 AND expires_at > $2 AND state = 'pending'`)
	overdueApprovals = engine.Register("overdue approvals", `
		SELECT `+columns+` FROM send_approvals AS a WHERE a.org_id = $1 AND a.expires_at <= $2 AND a.state = 'pending' ORDER BY a.expires_at LIMIT $3`)
)

// resource is the name of an approval in errors.
const resource = "approval"

func (s Store) Insert(ctx context.Context, orgID string, a approvals.Approval) error {
	preview, err := json.Marshal(a.Preview)
	if err != nil {
		return fmt.Errorf("storage: preview of an approval: %w", err)
	}
	_, err = s.db.Exec(ctx, insertApproval, orgID, a.ID, a.BroadcastID, string(a.State), string(a.AskedBy.Kind), a.AskedBy.ID, a.AskedBy.UserID,
		engine.At(a.RequestedAt), engine.At(a.ExpiresAt), a.Revision, engine.OptionalAt(a.ScheduledAt), a.Digest, string(preview),
		engine.OptionalAt(a.DecidedAt), a.DecidedBy, a.Reason, a.ApprovedSize)
	return err
}

func (s Store) Approval(ctx context.Context, orgID, id string) (approvals.Approval, error) {
	found, err := engine.One[row](ctx, s.db, resource, approvalByID, orgID, id)
	if err != nil {
		return approvals.Approval{}, err
	}
	return found.approval()
}

func (s Store) Latest(ctx context.Context, orgID string, broadcastIDs []string) ([]approvals.Approval, error) {
	type idRow struct {
		ID string `json:"id"`
	}
	rows := make([]idRow, len(broadcastIDs))
	for i, id := range broadcastIDs {
		rows[i].ID = id
	}
	ids, err := engine.JSONParameter(rows)
	if err != nil {
		return nil, err
	}
	return engine.ListParsed(ctx, s.db, row.approval, latestApprovals, ids, orgID)
}

func (s Store) End(ctx context.Context, orgID string, a approvals.Approval) (bool, error) {
	n, err := s.db.Exec(ctx, endApproval, string(a.State), engine.OptionalAt(a.DecidedAt), a.DecidedBy, a.Reason, a.ApprovedSize, orgID, a.ID)
	return n == 1, err
}

func (s Store) Find(ctx context.Context, orgID string, f approvals.Filter) ([]approvals.Approval, error) {
	at, id := engine.PageStart(f.After)
	page := decidedPage
	if f.Waiting {
		page = waitingPage
	}
	return engine.ListParsed(ctx, s.db, row.approval, page, orgID, at, id, f.Limit)
}

func (s Store) CountWaiting(ctx context.Context, orgID string, now time.Time) (int, error) {
	counts, err := engine.Values[int](ctx, s.db, countWaiting, orgID, engine.At(now))
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

func (s Store) Overdue(ctx context.Context, orgID string, now time.Time, limit int) ([]approvals.Approval, error) {
	return engine.ListParsed(ctx, s.db, row.approval, overdueApprovals, orgID, engine.At(now), limit)
}
