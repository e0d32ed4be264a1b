package workflows

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// row is a workflow.
type row struct {
	ID             string       `db:"id"`
	Key            string       `db:"key"`
	Name           string       `db:"name"`
	Status         string       `db:"status"`
	StatusBefore   string       `db:"status_before"`
	InvalidReason  string       `db:"invalid_reason"`
	Approval       bool         `db:"require_approval"`
	CurrentVersion int          `db:"current_version"`
	DraftVersion   int          `db:"draft_version"`
	TriggerKind    string       `db:"trigger_kind"`
	TriggerSource  string       `db:"trigger_source"`
	TriggerKey     string       `db:"trigger_key"`
	Waits          bool         `db:"waits"`
	SweptUntil     engine.Time  `db:"swept_until"`
	Backfill       string       `db:"backfill"`
	Origin         string       `db:"origin"`
	SourcePath     string       `db:"source_path"`
	SourceURL      string       `db:"source_url"`
	CreatedAt      engine.Time  `db:"created_at"`
	UpdatedAt      engine.Time  `db:"updated_at"`
	ActivatedAt    *engine.Time `db:"activated_at"`
	Closing        bool         `db:"closing"`
}

const columns = `w.id, w.key, w.name, w.status, w.status_before, w.invalid_reason, w.require_approval, w.current_version, w.draft_version,
		w.trigger_kind, w.trigger_source, w.trigger_key, w.waits, w.swept_until, w.backfill, w.origin, w.source_path, w.source_url,
		w.created_at, w.updated_at, w.activated_at, w.closing`

// workflow converts the row.
func (r row) workflow() (workflows.Workflow, error) {
	w := workflows.Workflow{
		ID: r.ID, Key: r.Key, Name: r.Name, Status: workflows.Status(r.Status), StatusBefore: workflows.Status(r.StatusBefore), InvalidReason: r.InvalidReason,
		RequireApproval: r.Approval, CurrentVersion: r.CurrentVersion, DraftVersion: r.DraftVersion,
		Trigger:        workflows.Trigger{Kind: workflows.TriggerKind(r.TriggerKind), Source: r.TriggerSource, Key: r.TriggerKey},
		WaitsForChange: r.Waits, SweptUntil: momentOf(r.SweptUntil), Origin: workflows.Origin(r.Origin), SourcePath: r.SourcePath, SourceURL: r.SourceURL,
		CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(), ActivatedAt: engine.OptionalTime(r.ActivatedAt), Closing: r.Closing,
	}
	if r.Backfill == "" {
		return w, nil
	}
	w.Backfill = &workflows.Backfill{}
	if err := json.Unmarshal([]byte(r.Backfill), w.Backfill); err != nil {
		return workflows.Workflow{}, fmt.Errorf("storage: backfill of a workflow: %w", err)
	}
	return w, nil
}

// noTime is how the zero time is stored in a column that is not NULL.
const noTime engine.Time = 0

func momentOf(t engine.Time) time.Time {
	if t == noTime {
		return time.Time{}
	}
	return t.Time()
}

func storedMoment(t time.Time) engine.Time {
	if t.IsZero() {
		return noTime
	}
	return engine.At(t)
}

// storedTimer returns a time for a nullable column, nil for the zero time.
func storedTimer(t time.Time) *engine.Time {
	if t.IsZero() {
		return nil
	}
	return engine.OptionalAt(&t)
}

func timerOf(t *engine.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time()
}

// storedBackfill returns the progress as JSON, "" for nil.
func storedBackfill(b *workflows.Backfill) (string, error) {
	if b == nil {
		return "", nil
	}
	text, err := json.Marshal(b)
	if err != nil {
		return "", fmt.Errorf("storage: backfill of a workflow: %w", err)
	}
	return string(text), nil
}

// isOpen returns the column open of a workflow.
func isOpen(w workflows.Workflow) bool { return w.Status == workflows.Active || w.Closing }
