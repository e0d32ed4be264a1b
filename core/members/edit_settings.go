package members

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
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

// SettingsEdit is what to change of the settings: nil leaves one as it is.
type SettingsEdit struct {
	Name                *string
	RequireSecondFactor *bool
	PlatformMode        *bool
}

// EditTo is what turns these settings into the wanted ones. Whatever is the same
// in both stays as it is by then.
func (s Settings) EditTo(wanted Settings) SettingsEdit {
	var edit SettingsEdit
	if wanted.Name != s.Name {
		edit.Name = &wanted.Name
	}
	if wanted.RequireSecondFactor != s.RequireSecondFactor {
		edit.RequireSecondFactor = &wanted.RequireSecondFactor
	}
	if wanted.PlatformMode != s.PlatformMode {
		edit.PlatformMode = &wanted.PlatformMode
	}
	return edit
}

func (e SettingsEdit) of(s Settings) Settings {
	if e.Name != nil {
		s.Name = *e.Name
	}
	if e.RequireSecondFactor != nil {
		s.RequireSecondFactor = *e.RequireSecondFactor
	}
	if e.PlatformMode != nil {
		s.PlatformMode = *e.PlatformMode
	}
	return s
}

// EditSettings changes settings of an organization and returns it as it is then.
// It needs org.manage. To require second factors a person must have proven one in
// the session they ask from, which proven says: they would lock themselves out
// otherwise; core.CodeConflict says so. What changes nothing leaves no line in the
// audit log.
func (m Memberships) EditSettings(ctx context.Context, actor access.Actor, orgID string, edit SettingsEdit, proven bool) (core.Org, error) {
	if edit.Name != nil {
		if err := access.CheckName(*edit.Name); err != nil {
			return core.Org{}, err
		}
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
		if org, err = m.Orgs.Org(ctx, orgID); err != nil {
			return err
		}
		before := SettingsOf(org)
		wanted := edit.of(before)
		if wanted.RequireSecondFactor && !before.RequireSecondFactor && !may.unlimited && !proven {
			return core.Conflict("Requiring a second factor now would lock you out: you have not proven one since you signed in.",
				"Set up an authenticator app or a passkey, sign in with it, and try again.")
		}
		detail := before.changes(wanted)
		if len(detail) == 0 {
			return nil
		}
		org.Name, org.RequireSecondFactor, org.PlatformMode = wanted.Name, wanted.RequireSecondFactor, wanted.PlatformMode
		if err := m.Orgs.SetOrgSettings(ctx, org); err != nil {
			return err
		}
		return m.record(ctx, now, access.AuditEntry{
			Actor: actor, Action: "org.settings_updated", OrgID: orgID, Subject: orgID, Detail: detail,
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
func (s Settings) changes(wanted Settings) map[string]access.Edited {
	found := map[string]access.Edited{}
	note := func(name string, before, after any) {
		if before != after {
			found[name] = access.Edited{Before: before, After: after}
		}
	}
	note("name", s.Name, wanted.Name)
	note("require_second_factor", s.RequireSecondFactor, wanted.RequireSecondFactor)
	note("platform_mode", s.PlatformMode, wanted.PlatformMode)
	return found
}
