package demodata

import (
	"context"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
)

// Days between two past evaluations of the demo's segments, and the day of the first one.
const (
	evaluateEvery  = 6
	firstEvaluated = 15 * evaluateEvery
)

// evaluate computes the members of the segments on past days and now, so that each segment
// has a history of its size. On a past day it evaluates the contacts that existed, with
// their present attributes and the events up to that day.
func (p Past) evaluate(ctx context.Context, orgID string) error {
	schema, err := p.DB.Segments().PredicateSchema(ctx, orgID)
	if err != nil {
		return err
	}
	all, err := p.DB.Segments().AllSegments(ctx, orgID)
	if err != nil {
		return err
	}
	people, err := p.DB.Contacts().Contacts(ctx, orgID, contacts.ContactFilter{Limit: PeopleCount})
	if err != nil {
		return err
	}
	nobody, err := predicate.Compile(`count(open) < 0`, schema.Schema)
	if err != nil {
		return err
	}
	for _, s := range all {
		checked, err := predicate.Compile(s.Source, schema.Schema)
		if err != nil {
			return err
		}
		// a job may have evaluated the segment since its creation; its members leave first
		q := segments.Question{OrgID: orgID, Predicate: nobody, Slots: schema.Slots, Now: p.Clock().AddDate(0, 0, -firstEvaluated)}
		for _, c := range people {
			q.Contacts = append(q.Contacts, c.ID)
		}
		if _, _, err := p.DB.SegmentMembers().JudgeMembers(ctx, q, s.ID); err != nil {
			return err
		}
		q.Predicate = checked
		for days := firstEvaluated; days >= 0; days -= evaluateEvery {
			q.Now, q.Contacts = p.Clock().AddDate(0, 0, -days), nil
			for _, c := range people {
				if !c.CreatedAt.After(q.Now) {
					q.Contacts = append(q.Contacts, c.ID)
				}
			}
			if _, _, err := p.DB.SegmentMembers().JudgeMembers(ctx, q, s.ID); err != nil {
				return err
			}
			if err := p.DB.SegmentMembers().SetEvaluatedAt(ctx, orgID, s.ID, q.Now); err != nil {
				return err
			}
		}
	}
	return nil
}
