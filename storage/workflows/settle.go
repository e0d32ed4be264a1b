package workflows

import (
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	db "github.com/mailhelm/mailhelm/storage/engine"
)

// outcomeRow is a message whose recipient has an outcome.
type outcomeRow struct {
	ID      string         `db:"id" json:"id"`
	Run     string         `db:"run_id" json:"-"`
	Contact string         `db:"contact_id" json:"-"`
	State   handover.State `db:"state" json:"state"`
	Reason  string         `db:"reason" json:"-"`
	Tier    handover.Tier  `db:"tier" json:"-"`
}

func (s MailStore) Settle(ctx context.Context, orgID, sendID string, now time.Time, limit int) (int, error) {
	settled := 0
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		outcomes, err := db.List[outcomeRow](ctx, s.db, settledMails, orgID, sendID, limit)
		if settled = len(outcomes); err != nil || settled == 0 {
			return err
		}
		if err := s.lockFailed(ctx, orgID, sendID, outcomes); err != nil {
			return err
		}
		parameter, err := db.JSONParameter(outcomes)
		if err != nil {
			return err
		}
		if _, err := s.db.Exec(ctx, settleMails, parameter, orgID, sendID); err != nil {
			return err
		}
		of, err := db.One[sendRow](ctx, s.db, "send of the workflow", sendByID, orgID, sendID)
		if err != nil {
			return err
		}
		send := workflows.Send{ID: of.ID, WorkflowID: of.WorkflowID, Version: of.Version, Path: of.NodePath, Topic: of.Topic, Transactional: of.Transactional}
		return s.continueRuns(ctx, orgID, send, outcomes, now)
	})
	return settled, err
}

// lockFailed locks the recipients of messages without an answer of the account. It changes the
// outcomes of those that an event has proved to be sent since they were read.
func (s MailStore) lockFailed(ctx context.Context, orgID, sendID string, outcomes []outcomeRow) error {
	var unknown []string
	for _, o := range outcomes {
		if o.State == handover.Failed && o.Reason == handover.OutcomeUnknown {
			unknown = append(unknown, o.ID)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	parameter, err := db.JSONParameter(unknown)
	if err != nil {
		return err
	}
	failed, err := db.Values[string](ctx, s.db, failedRecipients, orgID, sendID, parameter)
	for i := range outcomes {
		if o := &outcomes[i]; slices.Contains(unknown, o.ID) && !slices.Contains(failed, o.ID) {
			o.State, o.Reason = handover.Sent, ""
		}
	}
	return err
}

func (s MailStore) Correct(ctx context.Context, orgID string, mails []workflows.MailRef) error {
	if len(mails) == 0 {
		return nil
	}
	rows := make([]mailRow, len(mails))
	for i, m := range mails {
		rows[i] = mailRow{Send: m.SendID, ID: m.Key}
	}
	parameter, err := db.JSONParameter(rows)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, correctMails, parameter, orgID)
	return err
}

// continueRuns adds the events of messages that were not sent, and lets the runs continue.
func (s MailStore) continueRuns(ctx context.Context, orgID string, of workflows.Send, outcomes []outcomeRow, now time.Time) error {
	ids := make([]string, len(outcomes))
	for i, o := range outcomes {
		ids[i] = o.Run
	}
	parameter, err := db.JSONParameter(ids)
	if err != nil {
		return err
	}
	runs, err := db.ListParsed(ctx, s.db, runRow.run, runsOfMails, orgID, of.WorkflowID, parameter)
	if err != nil {
		return err
	}
	byID := make(map[string]workflows.Run, len(runs))
	for _, r := range runs {
		byID[r.ID] = r
	}
	events, err := s.eventsOf(ctx, orgID, of, outcomes, byID, now)
	if err != nil {
		return err
	}
	if err := addTimeline(ctx, s.db, orgID, of.WorkflowID, events); err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, continueRuns, db.At(now), orgID, of.WorkflowID, parameter)
	return err
}

// eventsOf returns the events of messages that were filtered or have failed.
func (s MailStore) eventsOf(ctx context.Context, orgID string, of workflows.Send, outcomes []outcomeRow, runs map[string]workflows.Run, now time.Time) ([]workflows.Event, error) {
	var filtered []string
	for _, o := range outcomes {
		if o.State == handover.Filtered {
			filtered = append(filtered, o.Contact)
		}
	}
	judged := map[string]workflows.Recipient{}
	if len(filtered) > 0 {
		var err error
		if judged, err = s.judge(ctx, orgID, of, filtered); err != nil {
			return nil, err
		}
	}
	var events []workflows.Event
	for _, o := range outcomes {
		e := engine.Event{Path: of.Path, At: now, Iteration: iterationOf(runs[o.Run].State, of.Path)}
		switch o.State {
		case handover.Filtered:
			e.Type, e.Reason = engine.SendFiltered, reasonOf(o.Tier, judged[o.Contact].Reason)
			e.Tier = tierOf(e.Reason)
		case handover.Failed:
			e.Type, e.Detail = engine.SendFailed, o.Reason
		default:
			continue
		}
		events = append(events, workflows.Event{RunID: o.Run, Version: of.Version, Event: e})
	}
	return events, nil
}

// reasonOf returns why a message was filtered: by the contact as it is now if that fits the
// tier, else the usual reason of the tier.
func reasonOf(tier handover.Tier, now engine.Reason) engine.Reason {
	if tierOf(now) == engine.Tier(tier) {
		return now
	}
	if tier == handover.ByTopic {
		return engine.OptedOut
	}
	return engine.UnsubscribedAll
}

// iterationOf returns the pass of the innermost repeat around the step, 0 outside of repeats.
func iterationOf(state engine.State, path string) int {
	longest, pass := "", 0
	for loop, n := range state.Passes {
		if len(loop) > len(longest) && len(path) > len(loop) && path[:len(loop)+1] == loop+"." {
			longest, pass = loop, n
		}
	}
	return pass
}
