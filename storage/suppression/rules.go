package suppression

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// RuleStore stores the rules by which an address becomes undeliverable.
type RuleStore struct{ db *engine.DB }

var _ suppression.RuleStore = RuleStore{}

// NewRuleStore returns the store of rules for undeliverable addresses on the database.
func NewRuleStore(db *engine.DB) RuleStore { return RuleStore{db} }

// rulesRow has the rules of an organization for undeliverable addresses. Rules is JSON; it
// is read only if the profile is Custom.
type rulesRow struct {
	Profile suppression.Profile `db:"profile"`
	Rules   string              `db:"rules"`
}

var (
	undeliverableRules = engine.RegisterPoint("undeliverable rules", `SELECT profile, rules FROM undeliverable_rules WHERE org_id = $1`)
	// holdUndeliverableRules inserts the standard rules, or rewrites the existing row
	// without a change. This locks the row until the transaction ends, on both engines.
	holdUndeliverableRules = engine.Register("hold undeliverable rules", `
		INSERT INTO undeliverable_rules (org_id, profile, rules, updated_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id) DO UPDATE SET profile = undeliverable_rules.profile
		RETURNING profile, rules`)
	setUndeliverableRules = engine.Register("set undeliverable rules", `
		INSERT INTO undeliverable_rules (org_id, profile, rules, judged_to, updated_at) VALUES ($1, $2, $3, '', $4)
		ON CONFLICT (org_id) DO UPDATE SET profile = excluded.profile, rules = excluded.rules,
			judged_to = excluded.judged_to, updated_at = excluded.updated_at`)
	// undeliverableJudgedTo selects the last address to which a background job has applied
	// changed rules. It selects NULL if the job has applied them to all addresses.
	undeliverableJudgedTo = engine.RegisterPoint("undeliverable judged to", `
		SELECT judged_to FROM undeliverable_rules WHERE org_id = $1`)
	setUndeliverableJudgedTo = engine.Register("set undeliverable judged to", `
		UPDATE undeliverable_rules SET judged_to = $1 WHERE org_id = $2`)
)

// Rules returns the organization's rules for undeliverable addresses, or the standard rules
// if it has set none.
func (s RuleStore) Rules(ctx context.Context, orgID string) (suppression.Rules, error) {
	rows, err := engine.List[rulesRow](ctx, s.db, undeliverableRules, orgID)
	if err != nil || len(rows) == 0 {
		return suppression.RulesOf(suppression.Standard), err
	}
	return rows[0].rules()
}

// rules converts the row to suppression.Rules. It returns an error if custom rules do not
// parse.
func (r rulesRow) rules() (suppression.Rules, error) {
	rules := suppression.RulesOf(r.Profile)
	if r.Profile == suppression.Custom {
		if err := json.Unmarshal([]byte(r.Rules), &rules.RuleSet); err != nil {
			return suppression.Rules{}, fmt.Errorf("storage: rules of undeliverable addresses: %w", err)
		}
	}
	return rules, nil
}

// errHoldOutsideTransaction is the error of a call of HoldRules outside a transaction,
// which is a bug: the lock would end at once.
var errHoldOutsideTransaction = errors.New("storage: rules can only be held inside a transaction")

// HoldRules returns the organization's rules and locks them until the transaction ends. If
// the organization has none it inserts the standard rules, because a row that does not
// exist cannot be locked. It must be called inside a transaction.
func (s RuleStore) HoldRules(ctx context.Context, orgID string) (suppression.Rules, error) {
	if !s.db.InTransaction(ctx) {
		return suppression.Rules{}, errHoldOutsideTransaction
	}
	rows, err := engine.List[rulesRow](ctx, s.db, holdUndeliverableRules, orgID, string(suppression.Standard), "{}", engine.At(s.db.Now()))
	if err != nil {
		return suppression.Rules{}, err
	}
	return rows[0].rules()
}

func (s RuleStore) SetRules(ctx context.Context, orgID string, r suppression.Rules, at time.Time) error {
	rules, err := json.Marshal(r.RuleSet)
	if err != nil {
		return fmt.Errorf("storage: rules of undeliverable addresses: %w", err)
	}
	_, err = s.db.Exec(ctx, setUndeliverableRules, orgID, string(r.Profile), string(rules), engine.At(at))
	return err
}

// JudgedTo returns the last address to which a background job has applied changed rules. It
// returns "" if the job has not applied them to any address, and nil if it has applied them
// to all.
func (s RuleStore) JudgedTo(ctx context.Context, orgID string) (*string, error) {
	rows, err := engine.Values[*string](ctx, s.db, undeliverableJudgedTo, orgID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

func (s RuleStore) SetJudgedTo(ctx context.Context, orgID string, key *string) error {
	_, err := s.db.Exec(ctx, setUndeliverableJudgedTo, key, orgID)
	return err
}
