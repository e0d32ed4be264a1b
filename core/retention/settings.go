package retention

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

const (
	// Reconsider is the time after a change of a period in which nothing of the kind is deleted,
	// so that a mistake can be corrected.
	Reconsider = 24 * time.Hour
	// Notice is the time between the first run of the job for an organization and the first
	// deletion after a default period. Kinds with AtOnce have none.
	Notice = 30 * 24 * time.Hour
)

// Settings reads and changes the periods of organizations. All fields are required.
type Settings struct {
	Store      Store
	Orgs       func(ctx context.Context, id string) (core.Org, error)
	Audit      access.AuditAppender
	Transactor core.Transactor
	Clock      core.Clock
}

// Period is the period of a kind in an organization.
type Period struct {
	Kind
	State
	// Days is the period in force: that of the organization, or the default.
	Days int
	// IsSet reports whether the organization has set it.
	IsSet bool
	// From is the time from which records are deleted after this period. It is the zero time
	// until the job has seen the organization.
	From time.Time
}

// period returns the period of a kind.
func period(k Kind, s State) Period {
	p := Period{Kind: k, State: s, Days: k.Default}
	if s.Days != nil {
		p.Days, p.IsSet = *s.Days, true
	}
	switch {
	case s.ChangedAt != nil:
		p.From = s.ChangedAt.Add(Reconsider)
	case s.SeenAt != nil && k.AtOnce:
		p.From = *s.SeenAt
	case s.SeenAt != nil:
		p.From = s.SeenAt.Add(Notice)
	}
	return p
}

// Before returns the time before which records are old. ok is false if none is: the period is
// [Forever] or not in force yet.
func (p Period) Before(now time.Time, org core.Org) (before time.Time, ok bool) { //nolint:nonamedreturns // says which
	if p.Days == Forever || p.From.IsZero() || now.Before(p.From) {
		return time.Time{}, false
	}
	return p.cutoff(now, org), true
}

// cutoff returns the time before which records are old, whether or not the period is in force.
func (p Period) cutoff(now time.Time, org core.Org) time.Time {
	days := p.Days
	if p.beyondMessages {
		// Messages are deleted by whole days; see the job of core/messages.
		days = max(days, core.MessageDays(org.RetentionDays)+2)
	}
	return now.UTC().AddDate(0, 0, -days)
}

// Periods returns the periods of all kinds, in the order of [Kinds].
func (s Settings) Periods(ctx context.Context, orgID string) ([]Period, error) {
	states, err := s.Store.States(ctx, orgID)
	if err != nil {
		return nil, err
	}
	var all []Period
	for _, k := range Kinds() {
		all = append(all, period(k, states[k.Name]))
	}
	return all, nil
}

// Figures returns the numbers of stored records for a period. Due are those that are older than
// the period, also if it is not in force yet.
func (s Settings) Figures(ctx context.Context, org core.Org, p Period) (Figures, error) {
	before := time.Time{} // nothing is older
	if p.Days != Forever {
		before = p.cutoff(s.Clock(), org)
	}
	return s.Store.Figures(ctx, org.ID, p.Name, before)
}

// Change is a new period of a kind. Days is nil for the default.
type Change struct {
	Kind Name
	Days *int
}

// Set changes periods, and writes a line in the audit log that has those that changed. It
// returns whether any did. It fails with core.CodeValidationFailed for an unknown kind and for
// periods outside of the bounds; it then changes nothing.
func (s Settings) Set(ctx context.Context, actor access.Actor, orgID string, changes ...Change) (bool, error) {
	changed := false
	err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
		detail := map[string]any{}
		now := s.Clock()
		states, err := s.Store.States(ctx, orgID)
		if err != nil {
			return err
		}
		for _, c := range changes {
			k, err := KindOf(c.Kind)
			if err != nil {
				return err
			}
			if c.Days != nil {
				if err := k.Check(*c.Days); err != nil {
					return err
				}
			}
			was := period(k, states[k.Name])
			is := period(k, State{Days: c.Days})
			if was.Days == is.Days && was.IsSet == is.IsSet {
				continue
			}
			if err := s.Store.SetDays(ctx, orgID, k.Name, c.Days, now); err != nil {
				return err
			}
			detail[string(k.Name)] = access.Edited{Before: was.Days, After: is.Days}
		}
		if changed = len(detail) > 0; !changed {
			return nil
		}
		return access.RecordAudit(ctx, s.Audit, now, access.AuditEntry{Actor: actor, Action: "org.retention_updated", OrgID: orgID, Subject: orgID, Detail: detail})
	})
	return changed, err
}
