package workflows

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores workflows and their versions.
type Store struct{ db *engine.DB }

var _ workflows.Store = Store{}

// New returns the store of workflows on the database.
func New(db *engine.DB) Store { return Store{db} }

// resource is the name of a workflow in errors.
const resource = "workflow"

// filtered are the conditions of a page of workflows.
const filtered = `w.search LIKE $4 ESCAPE '\' AND w.status LIKE $5`

var (
	insertWorkflow = engine.Register("insert workflow", `
		INSERT INTO workflows (org_id, id, key, name, search, status, status_before, invalid_reason, require_approval, current_version, draft_version,
			trigger_kind, trigger_source, trigger_key, waits, swept_until, backfill, origin, source_path, source_url, created_at, updated_at, activated_at, closing, open)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)
		ON CONFLICT DO NOTHING`)
	updateWorkflow = engine.Register("update workflow", `
		UPDATE workflows SET name = $1, search = $2, status = $3, status_before = $4, invalid_reason = $5, require_approval = $6, current_version = $7,
			draft_version = $8, trigger_kind = $9, trigger_source = $10, trigger_key = $11, waits = $12, swept_until = $13, backfill = $14, origin = $15,
			source_path = $16, source_url = $17, updated_at = $18, activated_at = $19, closing = $20, open = $21
		WHERE org_id = $22 AND id = $23`)
	workflowByID  = engine.RegisterPoint("workflow", `SELECT `+columns+` FROM workflows AS w WHERE w.org_id = $1 AND w.id = $2`)
	lockWorkflow  = engine.Register("lock workflow", `SELECT `+columns+` FROM workflows AS w WHERE w.org_id = $1 AND w.id = $2 /*pg FOR UPDATE*/`)
	workflowByKey = engine.RegisterPoint("workflow by key", `SELECT `+columns+` FROM workflows AS w WHERE w.org_id = $1 AND w.key = $2`)
	lockByKey     = engine.Register("lock workflow by key", `SELECT `+columns+` FROM workflows AS w WHERE w.org_id = $1 AND w.key = $2 /*pg FOR UPDATE*/`)
	workflowsPage = engine.Register("workflows page", `
		SELECT `+columns+` FROM workflows AS w
		WHERE w.org_id = $1 AND (w.created_at, w.id) < ($2, $3) AND `+filtered+`
		ORDER BY w.created_at DESC, w.id DESC LIMIT $6`)
	countWorkflows = engine.Register("count workflows", `
		SELECT count(*) FROM workflows AS w WHERE w.org_id = $1 AND (w.created_at, w.id) < ($2, $3) AND `+filtered)

	saveVersion = engine.Register("save workflow version", `
		INSERT INTO workflow_versions (org_id, workflow_id, number, source, content_hash, created_at, created_by_kind, created_by, user_id, activated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (org_id, workflow_id, number) DO UPDATE SET source = excluded.source, content_hash = excluded.content_hash, created_at = excluded.created_at,
			created_by_kind = excluded.created_by_kind, created_by = excluded.created_by, user_id = excluded.user_id, activated_at = excluded.activated_at
		WHERE workflow_versions.activated_at IS NULL`)
	versionByNumber = engine.RegisterPoint("workflow version", `
		SELECT number, source, content_hash, created_at, created_by_kind, created_by, user_id, activated_at
		FROM workflow_versions WHERE org_id = $1 AND workflow_id = $2 AND number = $3`)
	allVersions = engine.Register("workflow versions", `
		SELECT number, source, content_hash, created_at, created_by_kind, created_by, user_id, activated_at
		FROM workflow_versions WHERE org_id = $1 AND workflow_id = $2 ORDER BY number DESC`)

	frequencyCap = engine.RegisterPoint("frequency cap", `SELECT messages, amount, unit FROM workflow_caps WHERE org_id = $1`)
	saveCap      = engine.Register("save frequency cap", `
		INSERT INTO workflow_caps (org_id, messages, amount, unit) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id) DO UPDATE SET messages = excluded.messages, amount = excluded.amount, unit = excluded.unit`)
	deleteCap = engine.Register("delete frequency cap", `DELETE FROM workflow_caps WHERE org_id = $1`)
)

func (s Store) Insert(ctx context.Context, orgID string, w workflows.Workflow) error {
	backfill, err := storedBackfill(w.Backfill)
	if err != nil {
		return err
	}
	taken := core.Conflict("Another workflow has the key "+core.Quote(w.Key)+".", "Choose another key.")
	return s.db.Insert(ctx, taken, insertWorkflow, orgID, w.ID, w.Key, w.Name, engine.SearchText(w.Name, w.Key), string(w.Status), string(w.StatusBefore),
		w.InvalidReason, w.RequireApproval, w.CurrentVersion, w.DraftVersion, string(w.Trigger.Kind), w.Trigger.Source, w.Trigger.Key, w.WaitsForChange,
		storedMoment(w.SweptUntil), backfill, string(w.Origin), w.SourcePath, w.SourceURL, engine.At(w.CreatedAt), engine.At(w.UpdatedAt),
		engine.OptionalAt(w.ActivatedAt), w.Closing, isOpen(w))
}

func (s Store) Update(ctx context.Context, orgID string, w workflows.Workflow) error {
	backfill, err := storedBackfill(w.Backfill)
	if err != nil {
		return err
	}
	return s.db.Change(ctx, resource, updateWorkflow, w.Name, engine.SearchText(w.Name, w.Key), string(w.Status), string(w.StatusBefore), w.InvalidReason,
		w.RequireApproval, w.CurrentVersion, w.DraftVersion, string(w.Trigger.Kind), w.Trigger.Source, w.Trigger.Key, w.WaitsForChange,
		storedMoment(w.SweptUntil), backfill, string(w.Origin), w.SourcePath, w.SourceURL, engine.At(w.UpdatedAt), engine.OptionalAt(w.ActivatedAt),
		w.Closing, isOpen(w), orgID, w.ID)
}

func (s Store) Workflow(ctx context.Context, orgID, ref string) (workflows.Workflow, error) {
	read, lock := workflowByID, lockWorkflow
	if !core.IsID(ref) {
		read, lock = workflowByKey, lockByKey
	}
	found, err := engine.One[row](ctx, s.db, resource, s.db.LockedInside(ctx, read, lock), orgID, ref)
	if err != nil {
		return workflows.Workflow{}, err
	}
	return found.workflow()
}

func (s Store) Workflows(ctx context.Context, orgID string, f workflows.Filter) ([]workflows.Workflow, error) {
	created, id := engine.PageStart(f.After)
	return engine.ListParsed(ctx, s.db, row.workflow, workflowsPage, orgID, created, id, engine.SearchPattern(f.Query), statusPattern(f.Status), f.Limit)
}

func (s Store) Count(ctx context.Context, orgID string, f workflows.Filter) (int, error) {
	created, id := engine.PageStart(nil)
	counts, err := engine.Values[int](ctx, s.db, countWorkflows, orgID, created, id, engine.SearchPattern(f.Query), statusPattern(f.Status))
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// statusPattern returns the LIKE pattern of a status; "" matches every status.
func statusPattern(s workflows.Status) string {
	if s == "" {
		return "%"
	}
	return string(s)
}

// versionRow is a version of a workflow.
type versionRow struct {
	Number      int          `db:"number"`
	Source      string       `db:"source"`
	ContentHash string       `db:"content_hash"`
	CreatedAt   engine.Time  `db:"created_at"`
	CreatedKind string       `db:"created_by_kind"`
	CreatedBy   string       `db:"created_by"`
	UserID      string       `db:"user_id"`
	ActivatedAt *engine.Time `db:"activated_at"`
}

func (r versionRow) version() workflows.Version {
	return workflows.Version{
		Number: r.Number, Source: r.Source, ContentHash: r.ContentHash, CreatedAt: r.CreatedAt.Time(),
		CreatedBy: workflows.Author{Kind: r.CreatedKind, ID: r.CreatedBy, UserID: r.UserID}, ActivatedAt: engine.OptionalTime(r.ActivatedAt),
	}
}

func (s Store) SaveVersion(ctx context.Context, orgID, workflowID string, v workflows.Version) error {
	return s.db.Change(ctx, "draft of the workflow", saveVersion, orgID, workflowID, v.Number, v.Source, v.ContentHash, engine.At(v.CreatedAt),
		v.CreatedBy.Kind, v.CreatedBy.ID, v.CreatedBy.UserID, engine.OptionalAt(v.ActivatedAt))
}

func (s Store) Version(ctx context.Context, orgID, workflowID string, number int) (workflows.Version, error) {
	found, err := engine.One[versionRow](ctx, s.db, "version of the workflow", versionByNumber, orgID, workflowID, number)
	return found.version(), err
}

func (s Store) Versions(ctx context.Context, orgID, workflowID string) ([]workflows.Version, error) {
	return engine.ListAs(ctx, s.db, versionRow.version, allVersions, orgID, workflowID)
}

// capRow is the frequency cap of an organization.
type capRow struct {
	Messages int    `db:"messages"`
	Amount   int    `db:"amount"`
	Unit     string `db:"unit"`
}

func (s Store) Cap(ctx context.Context, orgID string) (*language.Cap, error) {
	found, err := engine.List[capRow](ctx, s.db, frequencyCap, orgID)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	r := found[0]
	for unit := predicate.Minute; unit <= predicate.Month; unit++ {
		if unit.Word() == r.Unit {
			return &language.Cap{Messages: r.Messages, Per: language.Duration{Amount: r.Amount, Unit: unit}}, nil
		}
	}
	return nil, nil
}

func (s Store) SetCap(ctx context.Context, orgID string, limit *language.Cap) error {
	if limit == nil || limit.Off {
		_, err := s.db.Exec(ctx, deleteCap, orgID)
		return err
	}
	_, err := s.db.Exec(ctx, saveCap, orgID, limit.Messages, limit.Per.Amount, limit.Per.Unit.Word())
	return err
}
