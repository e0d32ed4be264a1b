package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Settings are what an organization decides about itself.
type Settings struct {
	Name string
	// RequireSecondFactor: see [core.Org].
	RequireSecondFactor bool
	PlatformMode        bool
}

// SettingsOf are an organization's settings.
func SettingsOf(org core.Org) Settings {
	return Settings{Name: org.Name, RequireSecondFactor: org.RequireSecondFactor, PlatformMode: org.PlatformMode}
}

// edited is one setting in the detail of a change.
type edited struct {
	Before any `json:"before"`
	After  any `json:"after"`
}

// EditSettings gives an organization these settings and returns it as it is then.
// It needs org.manage. To require second factors a person must have proven one in
// the session they ask from, which proven says: they would lock themselves out
// otherwise; core.CodeConflict says so. What changes nothing leaves no line in the
// audit log.
func (m Memberships) EditSettings(ctx context.Context, actor Actor, orgID string, wanted Settings, proven bool) (core.Org, error) {
	if err := checkName(wanted.Name); err != nil {
		return core.Org{}, err
	}
	var org core.Org
	err := m.change(ctx, orgID, func(ctx context.Context, now time.Time) error {
		may, err := m.authority(ctx, orgID, actor)
		if err != nil {
			return err
		}
		if err := may.need(MayManageOrg); err != nil {
			return err
		}
		if org, err = m.Store.Org(ctx, orgID); err != nil {
			return err
		}
		before := SettingsOf(org)
		if wanted.RequireSecondFactor && !before.RequireSecondFactor && !may.unlimited && !proven {
			return core.Conflict("Requiring a second factor now would lock you out: you have not proven one since you signed in.",
				"Set up an authenticator app or a passkey, sign in with it, and try again.")
		}
		detail := before.changes(wanted)
		if len(detail) == 0 {
			return nil
		}
		org.Name, org.RequireSecondFactor, org.PlatformMode = wanted.Name, wanted.RequireSecondFactor, wanted.PlatformMode
		if err := m.Store.SetOrgSettings(ctx, org); err != nil {
			return err
		}
		return m.record(ctx, now, happening{
			actor: actor, action: "org.settings_updated", orgID: orgID, subject: orgID, detail: detail,
		})
	})
	if err != nil {
		return core.Org{}, err
	}
	if m.Principals != nil {
		m.Principals.ForgetOrg(orgID)
	}
	return org, nil
}

// changes lists the settings that differ, by name.
func (s Settings) changes(wanted Settings) map[string]edited {
	found := map[string]edited{}
	note := func(name string, before, after any) {
		if before != after {
			found[name] = edited{Before: before, After: after}
		}
	}
	note("name", s.Name, wanted.Name)
	note("require_second_factor", s.RequireSecondFactor, wanted.RequireSecondFactor)
	note("platform_mode", s.PlatformMode, wanted.PlatformMode)
	return found
}
