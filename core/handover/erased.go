package handover

import (
	"context"
	"maps"
)

// filterErased adds the recipients with erased addresses to those that are filtered.
func (h *Handover) filterErased(ctx context.Context, orgID string, due []Recipient, tiers map[string]Tier) (map[string]Tier, error) {
	if h.ErasedAddresses == nil {
		return tiers, nil
	}
	emails := make([]string, len(due))
	for i, r := range due {
		emails[i] = r.Email
	}
	erased, err := h.ErasedAddresses(ctx, orgID, emails)
	if err != nil || len(erased) == 0 {
		return tiers, err
	}
	all := map[string]Tier{}
	maps.Copy(all, tiers)
	for _, r := range due {
		if erased[r.Email] {
			all[r.Key] = ByAccount
		}
	}
	return all, nil
}
