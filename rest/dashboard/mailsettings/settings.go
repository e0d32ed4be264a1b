package mailsettings

import (
	"context"
	"embed"
	"net/http"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// Path is the path of the page.
const Path = frame.Path + "/mail-settings"

// Settings reads and changes the mail settings. Each method fails as in core/mailsettings.
type Settings interface {
	Of(ctx context.Context, orgID string) (mailsettings.Settings, error)
	Edit(ctx context.Context, orgID string, wanted mailsettings.Settings) (before, after mailsettings.Settings, err error)
}

// Room has the page of mail settings; see dashboard.Room.
type Room struct {
	settings Settings
	*frame.Pages
}

// New returns the page of this package. It fails if the template of the page cannot be
// read.
func New(f *frame.Frame, settings Settings) (*Room, error) {
	own, err := f.Pages(pages)
	if err != nil {
		return nil, err
	}
	return &Room{settings, own}, nil
}

// Routes returns the route of the page.
func (h *Room) Routes() []frame.Route {
	return []frame.Route{{Path: "/mail-settings", Needs: members.MayManageOrg, Get: h.showSettings, Post: h.editSettings}}
}

// settingsPage is the data of the page.
type settingsPage struct {
	Form               frame.Form
	Languages          []frame.Option
	Settings           mailsettings.Settings
	MaxAddress, MaxURL int
	// Changed is the time of the last change, zero if there was none.
	Changed frame.When
}

// labels has, for each form field, the words that name the field in the error text of a
// refused form.
var labels = frame.Labels{"language": "The language", "postal_address": "The postal address", "asset_base_url": "The address of assets"}

// notices are the messages that the page shows after a change.
var notices = frame.Notices{"saved": "The mail settings are saved. Managed templates are deployed again in the background."}

// showSettings shows the form with the mail settings.
func (h *Room) showSettings(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	s, err := h.settings.Of(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.form(w, r, v, s, nil)
}

// form writes the form with the values of s. refused is the error of the sent form, or nil.
func (h *Room) form(w http.ResponseWriter, r *http.Request, v people.Visitor, s mailsettings.Settings, refused error) {
	problem, status := labels.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	data := settingsPage{Form: frame.FormTo(v, Path), Settings: s, MaxAddress: mailsettings.MaxAddress, MaxURL: mailsettings.MaxURL}
	for _, l := range mailsettings.Languages {
		data.Languages = append(data.Languages, frame.Option{Value: l.Tag, Name: l.Name, Chosen: l.Tag == s.Language})
	}
	if !s.UpdatedAt.IsZero() {
		data.Changed = h.When(s.UpdatedAt)
	}
	const title = "Mail settings"
	h.Show(w, r, v, status, frame.Screen{Page: "settings", Title: title, Notice: notices.NoticeOf(r), Problem: problem, Data: data, Head: frame.Head{
		Title: title, Lead: "What Mailhelm adds to all mail of this organization, and the language of its public pages.",
	}})
}

// typedSettings returns the values of a sent form.
func typedSettings(r *http.Request) mailsettings.Settings {
	return mailsettings.Settings{
		Language: r.PostForm.Get("language"), PostalAddress: r.PostForm.Get("postal_address"),
		UnsubscribeFooter: r.PostForm.Has("unsubscribe_footer"), AssetBaseURL: r.PostForm.Get("asset_base_url"),
	}
}

// editSettings stores the mail settings and redirects to the page. A refused form is shown
// again with its values.
func (h *Room) editSettings(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	typed := typedSettings(r)
	err := h.TransactorWith(v, members.MayManageOrg).InTx(r.Context(), func(ctx context.Context) error {
		before, after, err := h.settings.Edit(ctx, v.Org.ID, typed)
		if err != nil || before == after {
			return err
		}
		return h.Record(ctx, v, "org.mail_settings_updated", v.Org.ID, changes(before, after))
	})
	if err != nil {
		h.form(w, r, v, typed, err)
		return
	}
	frame.RedirectWithNotice(w, Path, "saved")
}

// changes returns the settings that differ, for the audit log.
func changes(before, after mailsettings.Settings) map[string]any {
	found := map[string]any{}
	note := func(name string, was, is any) {
		if was != is {
			found[name] = access.Edited{Before: was, After: is}
		}
	}
	note("language", before.Language, after.Language)
	note("postal_address", before.PostalAddress, after.PostalAddress)
	note("unsubscribe_footer", before.UnsubscribeFooter, after.UnsubscribeFooter)
	note("asset_base_url", before.AssetBaseURL, after.AssetBaseURL)
	return found
}
