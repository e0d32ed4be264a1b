package organization

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// settingsPage is the data of the page with the organization's settings.
type settingsPage struct {
	Form     frame.Form
	Settings members.Settings
	// Shown has the settings at the time when the form was first shown. The form sends them
	// back, so that only the fields that the visitor changed are stored.
	Shown members.Settings
	// MayRequire is false if requiring a second factor would lock the visitor out.
	MayRequire bool
	Security   string
	Org        core.Org
	// MayDelete is true for owners. DeletePath is the page that deletes the organization.
	MayDelete  bool
	DeletePath string
}

// settingsNotices are the messages that the page of settings shows after a change. A key is
// the notice's name in the page's address.
var settingsNotices = frame.Notices{"saved": "The settings are saved."}

// showSettings shows the page with the organization's settings.
func (h settingsHandlers) showSettings(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	now := members.SettingsOf(v.Org)
	h.settingsForm(w, r, v, http.StatusOK, now, now, "")
}

// settingsForm writes the form with the values of s. The parameter shown has the settings
// at the time when the form was first shown. problem is the error of the submitted form, or
// "".
func (h settingsHandlers) settingsForm(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, shown, s members.Settings, problem string) {
	h.Show(w, r, v, status, frame.Screen{Page: "settings", Title: "Settings", Notice: settingsNotices.NoticeOf(r), Problem: problem, Data: settingsPage{
		Form: frame.FormTo(v, SettingsPath), Settings: s, Shown: shown, MayRequire: v.Org.RequireSecondFactor || provenFactor(v),
		Security: frame.SecurityPath, Org: v.Org, MayDelete: v.Member.Role == members.Owner, DeletePath: frame.Path + "/delete-organization",
	}})
}

// provenFactor reports whether the visitor has proven a second factor in this session.
func provenFactor(v people.Visitor) bool { return v.Session.SecondFactorAt != nil }

// editSettings stores the settings that the visitor changed and redirects to the page of
// settings. A refused form is shown again with its values.
func (h settingsHandlers) editSettings(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.Confirm(w, r, v, SettingsPath) {
		return
	}
	shown, wanted := postedSettings(r, "shown_"), postedSettings(r, "")
	_, err := h.Memberships.EditSettings(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, shown.EditTo(wanted), provenFactor(v))
	e := core.AsError(err)
	switch {
	case err == nil:
		frame.RedirectWithNotice(w, SettingsPath, "saved")
	case e.Code == core.CodeValidationFailed || e.Code == core.CodeConflict:
		h.settingsForm(w, r, v, e.HTTPStatus(), shown, wanted, e.Message+" "+e.NextStep())
	default:
		h.Fail(w, r, v, err)
	}
}

// postedSettings returns the settings in the form fields whose names begin with prefix.
func postedSettings(r *http.Request, prefix string) members.Settings {
	return members.Settings{
		Name:                r.PostForm.Get(prefix + "name"),
		RequireSecondFactor: r.PostForm.Has(prefix + "require_second_factor"),
		PlatformMode:        r.PostForm.Has(prefix + "platform_mode"),
	}
}
