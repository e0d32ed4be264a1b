package members_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestEditSettings(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		m := g.memberships()
		_, asOwner := g.person("owner", members.Owner)
		_, asPlain := g.person("plain", members.PlainMember, members.MayManageMembers)
		wanted := members.SettingsOf(g.org)
		edit := func(s members.Settings) members.SettingsEdit {
			return members.SettingsEdit{Name: &s.Name, RequireSecondFactor: &s.RequireSecondFactor, PlatformMode: &s.PlatformMode}
		}
		wanted.Name, wanted.RequireSecondFactor, wanted.PlatformMode = "Acme & Sons", true, true

		_, err := m.EditSettings(ctx, asPlain, g.org.ID, edit(wanted), true)
		g.wantCode("without the permission", err, core.CodeInvalidScope)
		_, err = m.EditSettings(ctx, asOwner, g.org.ID, edit(wanted), false)
		g.wantCode("without a second factor", err, core.CodeConflict)
		nameless := wanted
		nameless.Name = "\u200b"
		_, err = m.EditSettings(ctx, asOwner, g.org.ID, edit(nameless), true)
		g.wantCode("without a name", err, core.CodeValidationFailed)
		if len(g.auditLines()) != 0 {
			t.Error("refusals left lines")
		}

		secret := g.key()
		_, err = g.auth.Authenticate(ctx, secret, access.API)
		g.must(err)
		got, err := m.EditSettings(ctx, asOwner, g.org.ID, edit(wanted), true)
		g.must(err)
		stored, err := g.db.Orgs().Org(ctx, g.org.ID)
		g.must(err)
		if members.SettingsOf(got) != wanted || cmp.Diff(got, stored) != "" || stored.Slug != "acme" {
			t.Errorf("got %+v, stored %+v", got, stored)
		}
		detail := `{"name":{"before":"Acme","after":"Acme \u0026 Sons"},"platform_mode":{"before":false,"after":true},"require_second_factor":{"before":false,"after":true}}`
		if diff := cmp.Diff(line{"org.settings_updated", "user " + asOwner.ID, g.org.ID, detail}, g.last()); diff != "" || !json.Valid([]byte(detail)) {
			t.Errorf("audit (-want +got):\n%s", diff)
		}
		if p, err := g.auth.Authenticate(ctx, secret, access.API); err != nil || p.Org.Name != wanted.Name {
			t.Errorf("the next request is of %+v, %v", p.Org, err)
		}
		// the organization requires second factors already, so the last argument (proven) may
		// be false
		wanted.Name = "Acme"
		_, err = m.EditSettings(ctx, asOwner, g.org.ID, edit(wanted), false)
		g.must(err)
		_, err = m.EditSettings(ctx, operator, g.org.ID, edit(wanted), false) // equal settings change nothing
		g.must(err)
		if lines := g.auditLines(); len(lines) != 2 {
			t.Errorf("lines %v", lines)
		}
	})
}
