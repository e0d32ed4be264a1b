package dashboard

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

const settingsPath = Path + "/settings"

func (d *Dashboard) settingsPages() []route {
	return []route{{path: "/settings", needs: access.MayManageOrg, get: d.showSettings, post: d.editSettings}}
}

// settingsPage is what the page of the settings shows.
type settingsPage struct {
	Form     form
	Settings access.Settings
	// Shown are the settings as they stood when the form was first shown. The form
	// brings them back, so that only what its person changed is changed.
	Shown access.Settings
	// MayRequire is false when requiring a second factor would lock the visitor out.
	MayRequire bool
	Security   string
	Org        core.Org
}

var settingsNotices = notices{"saved": "The settings are saved."}

func (d *Dashboard) showSettings(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	now := access.SettingsOf(v.Org)
	d.settingsForm(w, r, v, http.StatusOK, now, now, "")
}

func (d *Dashboard) settingsForm(w http.ResponseWriter, r *http.Request, v access.Visitor, status int, shown, s access.Settings, problem string) {
	d.show(w, r, v, status, screen{page: "settings", title: "Settings", notice: settingsNotices.of(r), problem: problem, data: settingsPage{
		Form: formTo(v, settingsPath), Settings: s, Shown: shown, MayRequire: v.Org.RequireSecondFactor || provenFactor(v),
		Security: securityPath, Org: v.Org,
	}})
}

// provenFactor reports whether the visitor has proven a second factor since they
// signed in.
func provenFactor(v access.Visitor) bool { return v.Session.SecondFactorAt != nil }

func (d *Dashboard) editSettings(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	if !d.Frame.Confirm(w, r, v, settingsPath) {
		return
	}
	shown, wanted := postedSettings(r, "shown_"), postedSettings(r, "")
	_, err := d.memberships().EditSettings(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, shown.EditTo(wanted), provenFactor(v))
	e := core.AsError(err)
	switch {
	case err == nil:
		noticed(w, settingsPath, "saved")
	case e.Code == core.CodeValidationFailed || e.Code == core.CodeConflict:
		d.settingsForm(w, r, v, e.HTTPStatus(), shown, wanted, e.Message+" "+e.NextStep())
	default:
		d.fail(w, r, v, err)
	}
}

// postedSettings are those of a form's fields whose names begin with prefix.
func postedSettings(r *http.Request, prefix string) access.Settings {
	return access.Settings{
		Name:                r.PostForm.Get(prefix + "name"),
		RequireSecondFactor: r.PostForm.Has(prefix + "require_second_factor"),
		PlatformMode:        r.PostForm.Has(prefix + "platform_mode"),
	}
}
