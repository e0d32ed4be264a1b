package suppression

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/jobs"
)

// Rules are an organization's rules.
func (s *Suppression) Rules(ctx context.Context, orgID string) (Rules, error) {
	return s.Store.Rules(ctx, orgID)
}

// SetRules changes an organization's rules and returns those before. New events
// are judged by them at once; the job judges every address anew.
func (s *Suppression) SetRules(ctx context.Context, orgID string, wanted Rules) (Rules, error) {
	if err := wanted.check(); err != nil {
		return Rules{}, err
	}
	var before Rules
	err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
		var err error
		if before, err = s.Store.HoldRules(ctx, orgID); err != nil {
			return err
		}
		if before.Profile == wanted.Profile && before.Version() == wanted.Version() {
			return nil
		}
		return s.Store.SetRules(ctx, orgID, wanted, s.now())
	})
	return before, err
}

// RejudgeArgs are the arguments of judging anew. It has none.
type RejudgeArgs struct{}

// Kind names the job.
func (RejudgeArgs) Kind() string { return "undeliverable_rejudge" }

const (
	rejudgeEvery = time.Minute
	// rejudgeTimeout bounds one run; the next goes on where it stopped.
	rejudgeTimeout = 10 * time.Minute
	rejudgeBatch   = 200
)

// RejudgeWorker judges every address anew where the rules were changed.
func (s *Suppression) RejudgeWorker() jobs.Worker[RejudgeArgs] {
	return jobs.Worker[RejudgeArgs]{Every: rejudgeEvery, Timeout: rejudgeTimeout, Work: func(ctx context.Context, _ RejudgeArgs) error {
		return jobs.ForEachOrg(ctx, "", s.Orgs, "judging addresses anew", s.Rejudge)
	}}
}

// Rejudge judges every address of an organization by its rules, if they were
// changed, in batches of their own transactions. Listed addresses that no longer
// qualify become excluded. An address whose events are no longer stored stays as
// it is: there is nothing to judge it by.
func (s *Suppression) Rejudge(ctx context.Context, orgID string) error {
	to, err := s.Store.JudgedTo(ctx, orgID)
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
	s.Log.InfoContext(ctx, "undeliverable addresses judged anew", "org_id", orgID)
	return nil
}

// rejudgeBatch reads how far judging has come under the hold, since another process may
// have changed the rules once more.
func (s *Suppression) rejudgeBatch(ctx context.Context, orgID string) (more bool, err error) { //nolint:nonamedreturns // says which
	rules, err := s.Store.HoldRules(ctx, orgID)
	if err != nil {
		return false, err
	}
	from, err := s.Store.JudgedTo(ctx, orgID)
	if err != nil || from == nil {
		return false, err
	}
	keys, err := s.Store.AdverseKeys(ctx, orgID, *from, rejudgeBatch)
	if err != nil {
		return false, err
	}
	if len(keys) == 0 {
		return false, s.Store.SetJudgedTo(ctx, orgID, nil)
	}
	if err := s.judge(ctx, orgID, rules, keys, true); err != nil {
		return false, err
	}
	return true, s.Store.SetJudgedTo(ctx, orgID, &keys[len(keys)-1])
}
