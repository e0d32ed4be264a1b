package activities

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// dedup sets the activity id of every item that was not refused. A duplicate gets the id of
// the first activity, any other item a new id.
func (a *Activities) dedup(ctx context.Context, orgID string, items []sent, now time.Time) error {
	for i := range items {
		if items[i].reason == "" {
			items[i].activityID = core.NewID()
		}
	}
	if err := a.claimKeys(ctx, orgID, items, now); err != nil {
		return err
	}
	return a.claimOnce(ctx, orgID, items, now)
}

// claimKeys stores the idempotency keys of the items as used, and marks items with an
// already used key as duplicates. If the stored keys cannot be read, it only finds
// duplicates within the batch.
func (a *Activities) claimKeys(ctx context.Context, orgID string, items []sent, now time.Time) error {
	first := make(map[string]*sent)
	var claims []KeyClaim
	for i := range items {
		s := &items[i]
		if s.reason != "" || s.key == "" || first[s.key] != nil {
			continue
		}
		first[s.key] = s
		claims = append(claims, KeyClaim{Key: s.key, ActivityID: s.activityID, ContactID: s.contactID})
	}
	if len(claims) == 0 {
		return nil
	}
	slices.SortFunc(claims, func(a, b KeyClaim) int { return strings.Compare(a.Key, b.Key) })
	held, err := a.Store.ClaimKeys(ctx, orgID, claims, now, now.Add(KeyWindow))
	if errors.Is(err, ErrClaims) {
		a.Log.WarnContext(ctx, "activities are accepted without deduplication by key", "org_id", orgID, "items", len(claims), "error", err)
	} else if err != nil {
		return err
	}
	for key, s := range first {
		if claim, ok := held[key]; ok {
			s.repeats(claim.ActivityID, claim.ContactID)
		}
	}
	for i := range items {
		if s := &items[i]; s.reason == "" && s.key != "" && first[s.key] != s {
			s.repeats(first[s.key].activityID, first[s.key].contactID)
		}
	}
	return nil
}

// claimOnce handles the items in mode Once. It stores the pair of contact and name of each
// item as used, and marks items with an already used pair as duplicates. If the stored
// pairs cannot be read, it refuses the items.
func (a *Activities) claimOnce(ctx context.Context, orgID string, items []sent, now time.Time) error {
	first := make(map[OnceKey]*sent)
	var claims []OnceClaim
	for i := range items {
		s := &items[i]
		if s.reason != "" || !s.once || first[s.onceKey()] != nil {
			continue
		}
		first[s.onceKey()] = s
		claims = append(claims, OnceClaim{OnceKey: s.onceKey(), ActivityID: s.activityID})
	}
	if len(claims) == 0 {
		return nil
	}
	slices.SortFunc(claims, func(a, b OnceClaim) int {
		return strings.Compare(a.ContactID+a.Name, b.ContactID+b.Name)
	})
	held, err := a.Store.ClaimOnce(ctx, orgID, claims, now)
	if errors.Is(err, ErrClaims) {
		a.Log.WarnContext(ctx, "activities are refused because deduplication is not available", "org_id", orgID, "items", len(claims), "error", err)
		refuseOnce(items)
		return nil
	}
	if err != nil {
		return err
	}
	for key, s := range first {
		if claim, ok := held[key]; ok {
			s.repeats(claim.ActivityID, claim.ContactID)
		}
	}
	for i := range items {
		if s := &items[i]; s.reason == "" && s.once && first[s.onceKey()] != s {
			s.repeats(first[s.onceKey()].activityID, s.contactID)
		}
	}
	return nil
}

func refuseOnce(items []sent) {
	for i := range items {
		if items[i].reason == "" && items[i].once {
			items[i].reason = DedupUnavailable
		}
	}
}

func (s *sent) onceKey() OnceKey { return OnceKey{ContactID: s.contactID, Name: s.name} }

// repeats marks the item as a duplicate of the given activity.
func (s *sent) repeats(activityID, contactID string) {
	s.activityID, s.contactID, s.duplicate = activityID, contactID, true
}
