package site

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// maxEarlier is the maximum number of earlier keys of an organization that are still valid.
const maxEarlier = 5

// shownDays is the number of days that Settings.Health counts, with the current day.
const shownDays = 7

// Settings reads and changes the site keys of organizations. Callers check the permission
// first. After the transaction of a change, they call Keys.Reload, so that this process
// applies the change at once; other processes apply it within ReloadEvery.
type Settings struct {
	Store Store
	Clock core.Clock
}

// State is what an organization has set.
type State struct {
	// Keys are the valid keys, the key in use first. It is empty before the first key.
	Keys []Key
	// Off is true if beacons are turned off.
	Off bool
}

// Of returns the settings of the organization.
func (s Settings) Of(ctx context.Context, orgID string) (State, error) {
	keys, err := s.Store.SiteKeys(ctx, orgID, s.Clock())
	if err != nil {
		return State{}, err
	}
	off, err := s.Store.SiteOff(ctx, orgID)
	return State{keys, off}, err
}

// Create creates the first key. It fails with core.CodeConflict if the organization has one.
func (s Settings) Create(ctx context.Context, orgID string) (Key, error) {
	k := Key{Value: mintKey(), CreatedAt: s.Clock()}
	return k, s.Store.InsertSiteKey(ctx, orgID, k)
}

// Rotate replaces the key in use, which stays valid for Grace. It runs in the caller's
// transaction. It fails with core.CodeNotFound if the organization has no key, and with
// core.CodeConflict if five earlier keys are still valid or another call rotates the key.
func (s Settings) Rotate(ctx context.Context, orgID string) (Key, error) {
	now := s.Clock()
	keys, err := s.Store.SiteKeys(ctx, orgID, now)
	if err != nil {
		return Key{}, err
	}
	if len(keys) == 0 || keys[0].ExpiresAt != nil {
		return Key{}, core.NotFound("site key")
	}
	if len(keys) > maxEarlier {
		last := keys[len(keys)-1].ExpiresAt
		return Key{}, core.Conflict(fmt.Sprintf("%d earlier site keys are still valid.", maxEarlier), "Rotate the key again after "+last.UTC().Format(time.RFC3339)+".")
	}
	if err := s.Store.DeleteExpiredSiteKeys(ctx, orgID, now); err != nil {
		return Key{}, err
	}
	if err := s.Store.ExpireSiteKey(ctx, orgID, keys[0].Value, now.Add(Grace)); err != nil {
		return Key{}, err
	}
	return s.Create(ctx, orgID)
}

// TurnOff turns beacons off. It may be repeated.
func (s Settings) TurnOff(ctx context.Context, orgID string) error {
	return s.Store.TurnSiteOff(ctx, orgID, s.Clock())
}

// TurnOn turns beacons on. It may be repeated.
func (s Settings) TurnOn(ctx context.Context, orgID string) error {
	return s.Store.TurnSiteOn(ctx, orgID)
}

// Health returns the counts of the beacons of seven days, today and the six days before. They
// lag by up to ten seconds.
func (s Settings) Health(ctx context.Context, orgID string) ([]Count, error) {
	return s.Store.SiteCounts(ctx, orgID, dayOf(s.Clock()).AddDate(0, 0, 1-shownDays))
}

// dayOf returns the start of the UTC day of a time.
func dayOf(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }
