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
	// MayRequire is false when requiring a second factor would lock the visitor out.
	MayRequire bool
	Security   string
	Org        core.Org
}

var settingsNotices = notices{"saved": "The settings are saved."}

func (d *Dashboard) showSettings(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	d.settingsForm(w, r, v, http.StatusOK, access.SettingsOf(v.Org), "")
}

func (d *Dashboard) settingsForm(w http.ResponseWriter, r *http.Request, v access.Visitor, status int, s access.Settings, problem string) {
	d.show(w, r, v, status, screen{page: "settings", title: "Settings", notice: settingsNotices.of(r), problem: problem, data: settingsPage{
		Form: formTo(v, settingsPath), Settings: s, MayRequire: v.Org.RequireSecondFactor || provenFactor(v),
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
	wanted := access.Settings{
		Name: r.PostForm.Get("name"), RequireSecondFactor: r.PostForm.Has("require_second_factor"), PlatformMode: r.PostForm.Has("platform_mode"),
	}
	_, err := d.memberships().EditSettings(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, wanted, provenFactor(v))
	e := core.AsError(err)
	switch {
	case err == nil:
		noticed(w, settingsPath, "saved")
	case e.Code == core.CodeValidationFailed || e.Code == core.CodeConflict:
		d.settingsForm(w, r, v, e.HTTPStatus(), wanted, e.Message+" "+e.NextStep())
	default:
		d.fail(w, r, v, err)
	}
}
