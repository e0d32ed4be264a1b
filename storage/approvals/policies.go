package approvals

import (
	"context"

	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// PolicyStore stores policies.
type PolicyStore struct{ db *engine.DB }

var _ approvals.PolicyStore = PolicyStore{}

// NewPolicyStore returns the store of policies on the database.
func NewPolicyStore(db *engine.DB) PolicyStore { return PolicyStore{db} }

// policyRow is a policy.
type policyRow struct {
	Application string      `db:"application"`
	Rule        string      `db:"rule"`
	Above       int         `db:"above"`
	Lists       string      `db:"lists"`
	AlsoPeople  bool        `db:"also_people"`
	UpdatedAt   engine.Time `db:"updated_at"`
	UpdatedBy   string      `db:"updated_by"`
}

func (r policyRow) policy() (approvals.Policy, error) {
	lists, err := engine.DecodeTexts(r.Lists)
	return approvals.Policy{
		Application: r.Application, Rule: approvals.Rule(r.Rule), Above: r.Above, Lists: lists, AlsoPeople: r.AlsoPeople,
		UpdatedAt: r.UpdatedAt.Time(), UpdatedBy: r.UpdatedBy,
	}, err
}

var (
	allPolicies = engine.RegisterPoint("policies of sends", `
		SELECT application, rule, above, lists, also_people, updated_at, updated_by FROM send_policies WHERE org_id = $1`)
	savePolicy = engine.Register("save policy of sends", `
		INSERT INTO send_policies (org_id, application, rule, above, lists, also_people, updated_at, updated_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (org_id, application) DO UPDATE SET rule = excluded.rule, above = excluded.above, lists = excluded.lists,
			also_people = excluded.also_people, updated_at = excluded.updated_at, updated_by = excluded.updated_by`)
	dropPolicy = engine.Register("drop policy of sends", `DELETE FROM send_policies WHERE org_id = $1 AND application = $2`)
)

func (s PolicyStore) Policies(ctx context.Context, orgID string) ([]approvals.Policy, error) {
	return engine.ListParsed(ctx, s.db, policyRow.policy, allPolicies, orgID)
}

func (s PolicyStore) SavePolicy(ctx context.Context, orgID string, p approvals.Policy) error {
	if p.Rule == approvals.Inherit {
		_, err := s.db.Exec(ctx, dropPolicy, orgID, p.Application)
		return err
	}
	lists, err := engine.EncodeTexts(p.Lists)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, savePolicy, orgID, p.Application, string(p.Rule), p.Above, lists, p.AlsoPeople, engine.At(p.UpdatedAt), p.UpdatedBy)
	return err
}
