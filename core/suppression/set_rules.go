package suppression

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/jobs"
)

// Rules returns an organization's rules.
func (s *Suppression) Rules(ctx context.Context, orgID string) (Rules, error) {
	return s.RuleStore.Rules(ctx, orgID)
}

// SetRules changes an organization's rules and returns the previous ones. New events are
// judged by the new rules at once. A job then judges all addresses again.
func (s *Suppression) SetRules(ctx context.Context, orgID string, wanted Rules) (Rules, error) {
	if err := wanted.check(); err != nil {
		return Rules{}, err
	}
	var before Rules
	err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
		var err error
		if before, err = s.RuleStore.HoldRules(ctx, orgID); err != nil {
			return err
		}
		if before.Profile == wanted.Profile && before.Version() == wanted.Version() {
			return nil
		}
		return s.RuleStore.SetRules(ctx, orgID, wanted, s.now())
	})
	return before, err
}

// RejudgeArgs is the empty argument of the job that decides for all addresses again whether
// they are undeliverable.
type RejudgeArgs struct{}

// Kind returns the name of the job that judges all addresses again.
func (RejudgeArgs) Kind() string { return "undeliverable_rejudge" }

const (
	rejudgeEvery = time.Minute
	// rejudgeTimeout is the time limit of one run of the job. The next run continues where
	// it stopped.
	rejudgeTimeout = 10 * time.Minute
	rejudgeBatch   = 200
)

// RejudgeWorker returns the worker of the job that judges all addresses again in
// organizations whose rules changed.
func (s *Suppression) RejudgeWorker() jobs.Worker[RejudgeArgs] {
	return jobs.Worker[RejudgeArgs]{Every: rejudgeEvery, Timeout: rejudgeTimeout, Work: func(ctx context.Context, _ RejudgeArgs) error {
		return jobs.ForEachOrg(ctx, "", s.Orgs, "judging addresses anew", s.Rejudge)
	}}
}

// Rejudge applies an organization's rules to each of its addresses again if the rules have
// changed. Listed addresses that no longer meet a rule become excluded. An address whose
// events were all purged is not judged again, so its entry stays unchanged. Rejudge works
// in batches, each in a transaction of its own, and continues where an earlier call
// stopped.
func (s *Suppression) Rejudge(ctx context.Context, orgID string) error {
	to, err := s.RuleStore.JudgedTo(ctx, orgID)
	if err != nil || to == nil {
		return err
	}
	for more := true; more; {
		err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
			var err error
			more, err = s.rejudgeBatch(ctx, orgID)
			return err
		})
		if err != nil {
			return err
		}
	}
	s.Log.InfoContext(ctx, "undeliverable addresses evaluated again", "org_id", orgID)
	return nil
}

// rejudgeBatch judges the next batch of addresses and reports whether there may be more. It
// reads its position in the list of addresses under the lock of the rules. The lock is
// needed because another process resets the position when it changes the rules.
func (s *Suppression) rejudgeBatch(ctx context.Context, orgID string) (more bool, err error) { //nolint:nonamedreturns // says which
	rules, err := s.RuleStore.HoldRules(ctx, orgID)
	if err != nil {
		return false, err
	}
	from, err := s.RuleStore.JudgedTo(ctx, orgID)
	if err != nil || from == nil {
		return false, err
	}
	keys, err := s.Store.AdverseKeys(ctx, orgID, *from, rejudgeBatch)
	if err != nil {
		return false, err
	}
	if len(keys) == 0 {
		return false, s.RuleStore.SetJudgedTo(ctx, orgID, nil)
	}
	if err := s.judge(ctx, orgID, rules, keys, true); err != nil {
		return false, err
	}
	return true, s.RuleStore.SetJudgedTo(ctx, orgID, &keys[len(keys)-1])
}
