package broadcasts

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// facts are what the page of every broadcast says.
type facts struct {
	ID, Name  string
	State     state
	Notices   []notice
	Audience  named
	Kind      string // list or segment
	Part      string // which part of the audience, "" for all
	Topic     named  // its name is "" for none
	From      string // "" for the default sender
	Subject   string // "" for that of the template
	Preview   string // the preview text
	Template  named  // its name is "" for inline content
	Version   string // the version of the template, "" for the newest
	Rate      string
	Tags      []string
	EditTags  string // the page that sets the tags, "" if the visitor may not
	Created   frame.When
	Updated   frame.When
	CreatedBy string
	// MayManage is true if the visitor may change and send broadcasts.
	MayManage bool
	// MaySeeTags is true if the visitor may see tags.
	MaySeeTags bool
}

// showBroadcast shows one broadcast: how a draft or a scheduled one would be sent, or how the
// send goes.
func (h *Room) showBroadcast(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if b, ok := h.read(w, r, v); ok {
		h.show(w, r, v, b, "", http.StatusOK)
	}
}

// show writes the page of a broadcast. problem says why a form was refused, "" for no
// reason.
func (h *Room) show(w http.ResponseWriter, r *http.Request, v people.Visitor, b broadcasts.Broadcast, problem string, status int) {
	about, err := h.factsOf(r.Context(), v, b)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if b.State == broadcasts.Draft || b.State == broadcasts.Scheduled {
		h.showDraft(w, r, v, b, about, problem, status)
		return
	}
	h.showRun(w, r, v, b, about, problem, status)
}

// refused shows the page of a broadcast again after a form was refused. Other errors get a
// page of their own.
func (h *Room) refused(w http.ResponseWriter, r *http.Request, v people.Visitor, err error) {
	problem, status := labels.Correctable(err)
	if problem == "" {
		h.Fail(w, r, v, err)
		return
	}
	if b, ok := h.read(w, r, v); ok {
		h.show(w, r, v, b, problem, status)
	}
}

// factsOf returns what the page of a broadcast says in every state.
func (h *Room) factsOf(ctx context.Context, v people.Visitor, b broadcasts.Broadcast) (facts, error) {
	f := facts{
		ID: b.ID, Name: frame.PlainName(b.Name), State: stateOf(b.State, b.Paused), Kind: audienceWords[b.AudienceKind],
		Part: partOf(b.Share), From: frame.PlainName(b.From), Subject: frame.PlainName(b.Subject), Preview: frame.PlainName(b.PreviewText),
		Rate: rateOf(b.Rate), Created: h.When(b.CreatedAt), Updated: h.When(b.UpdatedAt), MayManage: v.Member.Has(members.MayManageCampaigns),
	}
	var err error
	if f.Notices, err = h.noticesOf(ctx, v, b); err != nil {
		return f, err
	}
	if f.Audience, err = h.audienceOf(ctx, v, b.Target); err != nil {
		return f, err
	}
	if b.Topic != "" {
		f.Topic = named{Name: frame.PlainName(b.Topic)}
		if h.MayOpen(v, topicsPath) {
			f.Topic.Path = topicsPath + "/by-name/" + url.PathEscape(b.Topic)
		}
	}
	if b.UsesTemplate() {
		f.Template = h.link(v, templatesPath, b.Template, b.Template)
		if b.TemplateVersion != 0 {
			f.Version = strconv.Itoa(b.TemplateVersion)
		}
	}
	if err := h.addTags(ctx, v, b, &f); err != nil {
		return f, err
	}
	f.CreatedBy, err = h.authorOf(ctx, v, b.CreatedBy)
	return f, err
}

// addTags adds the tags of a broadcast, if the visitor may see tags.
func (h *Room) addTags(ctx context.Context, v people.Visitor, b broadcasts.Broadcast, f *facts) error {
	f.MaySeeTags = v.Member.Has(members.MayViewContent)
	if !f.MaySeeTags {
		return nil
	}
	found, err := h.Tags.OfBroadcast(ctx, v.Org.ID, b.ID)
	for _, t := range found {
		f.Tags = append(f.Tags, frame.PlainName(t.Name))
	}
	if v.Member.Has(members.MayManageContent) || f.MayManage {
		f.EditTags = path(b, "/tags")
	}
	return err
}

// authorOf returns the words for the author of a broadcast.
func (h *Room) authorOf(ctx context.Context, v people.Visitor, a broadcasts.Author) (string, error) {
	names := h.Actors.For(v)
	if a.Kind == string(core.Person) {
		return names.Person(ctx, a.ID)
	}
	return names.Credential(ctx, a.ID, a.UserID)
}

// hidden is a form that has only a button.
type hidden struct {
	Form   frame.Form
	Button string
}

// parentsOf returns the link from a page of a broadcast to the broadcast's own page.
func parentsOf(b broadcasts.Broadcast) []frame.Link {
	return []frame.Link{{Path: path(b, ""), Name: frame.PlainName(b.Name)}}
}

// path returns the path of a page of the broadcast.
func path(b broadcasts.Broadcast, page string) string { return Path + "/" + b.ID + page }
