package sending

import (
	"context"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// AccessRequestStore stores requests to the provider for production access.
type AccessRequestStore struct{ db *engine.DB }

var _ sending.AccessRequests = AccessRequestStore{}

// NewAccessRequestStore returns the store of requests for production access on the
// database.
func NewAccessRequestStore(db *engine.DB) AccessRequestStore { return AccessRequestStore{db} }

// productionRow is a request for production access. GrantedAt is nil unless the request was
// granted.
type productionRow struct {
	ID        string               `db:"id"`
	MailType  sending.MailType     `db:"mail_type"`
	Website   string               `db:"website"`
	UseCase   string               `db:"use_case"`
	Status    sending.AccessStatus `db:"status"`
	CreatedAt engine.Time          `db:"created_at"`
	UpdatedAt engine.Time          `db:"updated_at"`
	GrantedAt *engine.Time         `db:"granted_at"`
}

var (
	// insertProduction inserts a request for production access. It changes nothing if the
	// organization has an undecided request. The unique index production_requests_open
	// permits only one undecided request.
	insertProduction = engine.Register("insert production request", `
		INSERT INTO production_requests (org_id, id, mail_type, website, use_case, status, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT DO NOTHING`)
	// latestProduction selects an organization's latest request for production access,
	// through the index production_requests_newest.
	latestProduction = engine.RegisterPoint("latest production request", `
		SELECT id, mail_type, website, use_case, status, created_at, updated_at, granted_at FROM production_requests
		WHERE org_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1`)
	// decideProduction stores the decision about a request for production access. It changes
	// only an undecided request, so that of two decisions only the first has an effect.
	decideProduction = engine.Register("decide production request", `
		UPDATE production_requests SET status = $1, updated_at = $2, granted_at = $3
		WHERE org_id = $4 AND id = $5 AND status IN ('pending', 'under_review')`)
)

func (s AccessRequestStore) InsertRequest(ctx context.Context, orgID string, r sending.AccessRequest) error {
	return s.db.Insert(ctx, sending.AccessRequestOpen(), insertProduction, orgID, r.ID, string(r.MailType), r.Website, r.UseCase, string(r.Status),
		engine.At(r.CreatedAt), engine.At(r.UpdatedAt))
}

func (s AccessRequestStore) LatestRequest(ctx context.Context, orgID string) (sending.AccessRequest, error) {
	row, err := engine.One[productionRow](ctx, s.db, "request for production access", latestProduction, orgID)
	if err != nil {
		return sending.AccessRequest{}, err
	}
	return sending.AccessRequest{
		ID: row.ID, ProductionRequest: sending.ProductionRequest{MailType: row.MailType, Website: row.Website, UseCase: row.UseCase},
		Status: row.Status, CreatedAt: row.CreatedAt.Time(), UpdatedAt: row.UpdatedAt.Time(), GrantedAt: engine.OptionalTime(row.GrantedAt),
	}, nil
}

// DecideRequest stores the decision about a request for production access. It returns false
// and changes nothing if the request was already decided.
func (s AccessRequestStore) DecideRequest(ctx context.Context, orgID string, r sending.AccessRequest) (bool, error) {
	changed, err := s.db.Exec(ctx, decideProduction, string(r.Status), engine.At(r.UpdatedAt), engine.OptionalAt(r.GrantedAt), orgID, r.ID)
	return changed > 0, err
}
