package members

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Settings are the settings of an organization that its members can change.
type Settings struct {
	Name string
	// RequireSecondFactor and PlatformMode are described at [core.Org].
	RequireSecondFactor bool
	PlatformMode        bool
}

// SettingsOf returns the settings of an organization.
func SettingsOf(org core.Org) Settings {
	return Settings{Name: org.Name, RequireSecondFactor: org.RequireSecondFactor, PlatformMode: org.PlatformMode}
}

// SettingsEdit has the settings to change. A nil field does not change its setting.
type SettingsEdit struct {
	Name                *string
	RequireSecondFactor *bool
	PlatformMode        *bool
}

// EditTo returns the edit that changes the settings s to the settings in the parameter
// wanted. It omits settings that are equal in both.
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

func (e SettingsEdit) applyTo(s Settings) Settings {
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

// EditSettings changes settings of an organization and returns the organization. It needs
// the permission org.manage. If no setting differs, it writes nothing.
//
// proven is true if the person has proved a second factor in this session. If it is false,
// an edit that begins to require second factors fails with core.CodeConflict, because the
// edit would lock the person out. This does not apply to the operator.
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
		wanted := edit.applyTo(before)
		if wanted.RequireSecondFactor && !before.RequireSecondFactor && !may.unlimited && !proven {
			return core.Conflict("You cannot require a second factor now, because it would lock you out: you have not proven one in this session.",
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

// changes returns the settings that differ between s and wanted, by name.
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
