package broadcasts

import (
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// shownSamples is the number of contacts for whom the page shows the message.
const shownSamples = 3

// draftPage is the data of the page of a draft or a scheduled broadcast.
type draftPage struct {
	facts
	Reach     reach
	Warnings  []string
	Variables []variable
	// Blank is true if a variable is blank for some members.
	Blank   bool
	Samples []sample
	// Test is the form that sends a test.
	Test frame.Form
	// Send is the path of the page that sends, "" if the visitor may not send or the
	// broadcast is scheduled.
	Send string
	// Split divides the audience, nil if the broadcast cannot be divided.
	Split *frame.Form
	// Schedule is set for a scheduled broadcast.
	Schedule *schedule
	// Edit, Cancel and Delete are the paths of pages.
	Edit, Cancel, Delete string
	// Resume lets a paused broadcast go on, and Pause lets it wait. They are nil if they are
	// not possible.
	Pause, Resume *hidden
}

// schedule is the time of a scheduled broadcast, with the form that moves it.
type schedule struct {
	At         frame.When
	Value      string // for the form field
	Revision   int
	Form       frame.Form
	Unschedule string
}

// variable says from where the values of a variable come, as numbers of members.
type variable struct {
	Name                          string
	ByAttribute, ByDefault, Blank string
	HasBlank                      bool
}

// sample is the message of one contact.
type sample struct {
	Email, Path          string // the contact
	Subject, PreviewText string
	Text                 string
	Frame                string // the page with the rendered HTML
	First                bool
}

// previewed is the result of the operation broadcasts_preview.
type previewed struct {
	Variables []struct {
		Name        string `json:"name"`
		ByAttribute int    `json:"by_attribute"`
		ByDefault   int    `json:"by_default"`
		Blank       int    `json:"blank"`
	} `json:"variables"`
	Sample   *previewedSample `json:"sample"`
	Warnings []string         `json:"warnings"`
}

// previewedSample is the message of one contact in the result of broadcasts_preview.
type previewedSample struct {
	ContactID   string `json:"contact_id"`
	Email       string `json:"email"`
	Subject     string `json:"subject"`
	PreviewText string `json:"preview_text"`
	HTML        string `json:"html"`
	Text        string `json:"text"`
}

// showDraft shows what a draft or a scheduled broadcast would send, and to whom.
func (h *Room) showDraft(w http.ResponseWriter, r *http.Request, v people.Visitor, b broadcasts.Broadcast, about facts, problem string, status int) {
	data := draftPage{facts: about}
	var err error
	if data.Reach, err = h.reachOf(r, v, b.Target, b.Topic); err == nil {
		err = h.addPreviews(r, v, b, &data)
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if about.MayManage {
		h.addSteps(v, b, &data)
	}
	frame.AllowMailFrames(w)
	head := frame.Head{Title: data.Name}
	if data.Edit != "" {
		head.Actions = []frame.Action{{Path: data.Edit, Name: "Edit"}}
	}
	if data.Send != "" {
		head.Actions = append([]frame.Action{{Path: data.Send, Name: "Send or schedule", Primary: true}}, head.Actions...)
	}
	h.Show(w, r, v, status, frame.Screen{Page: "draft", Title: data.Name, Head: head, Notice: notices.NoticeOf(r), Problem: problem, Data: data})
}

// addPreviews adds the messages of some members, and what the previews say about the whole
// audience. Without a member, the preview has no message.
func (h *Room) addPreviews(r *http.Request, v people.Visitor, b broadcasts.Broadcast, data *draftPage) error {
	contacts, err := h.Audience.Samples(r.Context(), v.Org.ID, b.Target, b.Topic, shownSamples)
	if err != nil {
		return err
	}
	if len(contacts) == 0 {
		contacts = []string{""}
	}
	for i, contact := range contacts {
		found, err := h.preview(r, v, b.ID, contact)
		if core.IsNotFound(err) && contact != "" {
			continue // the contact was deleted just now
		}
		if err != nil {
			return err
		}
		if i == 0 {
			data.addResolution(found)
		}
		if found.Sample != nil {
			data.Samples = append(data.Samples, h.sampleOf(v, b, *found.Sample))
		}
	}
	if len(data.Samples) > 0 {
		data.Samples[0].First = true
	}
	return nil
}

// preview calls the operation that previews a broadcast for a contact, or for a member of
// the audience if contact is "".
func (h *Room) preview(r *http.Request, v people.Visitor, id, contact string) (previewed, error) {
	var found previewed
	err := h.Read(r, v, "broadcasts_preview", frame.SetArguments(map[string]any{"id": id, "contact_id": contact}), &found)
	return found, err
}

// addResolution adds the warnings and the table of variables.
func (p *draftPage) addResolution(found previewed) {
	for _, warning := range found.Warnings {
		p.Warnings = append(p.Warnings, frame.PlainName(warning))
	}
	for _, one := range found.Variables {
		p.Variables = append(p.Variables, variable{frame.PlainName(one.Name), count(one.ByAttribute), count(one.ByDefault), count(one.Blank), one.Blank > 0})
		p.Blank = p.Blank || one.Blank > 0
	}
}

// sampleOf returns the message of a contact for the page.
func (h *Room) sampleOf(v people.Visitor, b broadcasts.Broadcast, s previewedSample) sample {
	return sample{
		Email: frame.PlainName(s.Email), Path: h.link(v, contactsPath, s.ContactID, "").Path, Subject: frame.PlainName(s.Subject),
		PreviewText: frame.PlainName(s.PreviewText), Text: frame.PlainName(s.Text), Frame: path(b, "/preview?contact=") + url.QueryEscape(s.ContactID),
	}
}

// addSteps adds what the visitor can do with a draft or a scheduled broadcast.
func (h *Room) addSteps(v people.Visitor, b broadcasts.Broadcast, data *draftPage) {
	data.Edit, data.Cancel, data.Delete = path(b, "/edit"), path(b, "/cancel"), path(b, "/delete")
	data.Test = frame.FormTo(v, path(b, "/test"))
	if b.State == broadcasts.Draft {
		data.Send = path(b, "/send")
		if b.Share == nil {
			split := frame.FormTo(v, path(b, "/split"))
			data.Split = &split
		}
		return
	}
	if b.ScheduleAt != nil {
		data.Schedule = &schedule{
			At: h.When(*b.ScheduleAt), Value: b.ScheduleAt.UTC().Format(fieldTime), Revision: b.Revision,
			Form: frame.FormTo(v, path(b, "/reschedule")), Unschedule: path(b, "/unschedule"),
		}
	}
	data.Pause, data.Resume = pauseForms(v, b)
}

// pauseForms returns the form that pauses a broadcast and the one that resumes it, nil if
// that is not possible. Pauses for other reasons end by themselves.
func pauseForms(v people.Visitor, b broadcasts.Broadcast) (pause, resume *hidden) {
	if !v.Member.Has(members.MayManageCampaigns) || b.State.IsOver() {
		return nil, nil
	}
	if b.Paused != nil && (b.Paused.Reason == broadcasts.PausedByPerson || b.Paused.Reason == broadcasts.PausedByFault) {
		return nil, &hidden{Form: frame.FormTo(v, path(b, "/resume")), Button: changes["resume"].Button}
	}
	return &hidden{Form: frame.FormTo(v, path(b, "/pause")), Button: changes["pause"].Button}, nil
}
