package contacts

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	audience "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// contactPage is the data of the page of one contact.
type contactPage struct {
	Facts      facts
	Consent    consentSection
	Lists      []listRow
	Attributes []valueRow
	NoList     frame.Empty // in place of the lists
	NoValue    frame.Empty // in place of the attributes
	Delivery   delivery
	Why        why
	Activities activities
	Messages   messages
	Activate   *activateForm // nil if the contact is active or the visitor may not activate it
}

// facts has what the top of a contact's page shows.
type facts struct {
	ID, Email, ExternalID string
	Name                  string
	Status                mark
	Note                  string
	Created, Updated      frame.When
	VisitorID             string
}

// listRow is the data of a static list that the contact is on.
type listRow struct {
	Path      string // of the list's page, or "" if the visitor may not see it
	Name, Key string
	Since     frame.When
}

// valueRow is the data of one attribute's value.
type valueRow struct {
	Name, Value, Description string
	When                     frame.When
}

// showContact shows the page of one contact.
func (h contactHandlers) showContact(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	c, err := h.Directory.Contact(r.Context(), v.Org.ID, r.PathValue("id"))
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	stored := c
	old := h.readConsent(r, v, &c)
	known := h.readDefinitions(r, v)
	data := contactPage{
		Attributes: h.valuesOf(c, known), Delivery: h.readDelivery(r, v, c.Email),
		NoList: frame.Empty{Text: "The contact is on no list."}, NoValue: frame.Empty{Text: "No attribute has a value."},
		Why: h.readWhy(r, v, c, 0), Activities: h.readActivities(r, v, c.ID, shortList, ""), Messages: h.readMessages(r, v, c, shortList, ""),
	}
	view := consentView{h: h, names: h.Actors.For(v), stored: stored, shown: c}
	if data.Consent, err = view.consentOf(r.Context(), known, old); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	since, err := h.Memberships.Since(r.Context(), v.Org.ID, c.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	for _, l := range c.Lists {
		row := listRow{Name: frame.PlainName(l.Name), Key: l.Key, Since: h.When(since[l.ID])}
		if v.Member.Has(members.MayViewLists) {
			row.Path = listsPath + "/" + url.PathEscape(l.ID)
		}
		data.Lists = append(data.Lists, row)
	}
	if data.Facts, err = h.factsOf(r, v, c); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	head := frame.Head{Title: data.Facts.Email, Lead: data.Facts.Name}
	if v.Member.Has(members.MayManageContacts) {
		if c.Status == audience.Archived {
			data.Activate = &activateForm{frame.FormTo(v, pathOf(c.ID)+"/activate"), core.NewID()}
		} else {
			edit := pathOf(c.ID) + "/edit"
			head.Actions = []frame.Action{
				{Path: edit, Name: "Edit contact", Primary: true}, {Path: pathOf(c.ID) + "/archive", Name: "Archive contact", Danger: true},
			}
			data.NoList.Action, data.NoValue.Action = &frame.Action{Path: edit, Name: "Choose lists"}, &frame.Action{Path: edit, Name: "Set attributes"}
		}
	}
	if v.Member.Has(members.MayManagePersons) {
		head.Actions = append(head.Actions, frame.Action{Path: personsPath + "?contact=" + url.QueryEscape(c.ID), Name: "Personal data"})
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "contact", Title: data.Facts.Email, Head: head, Notice: contactNotices.NoticeOf(r), Data: data})
}

// activateForm is the data of the form that activates an archived contact.
type activateForm struct {
	Form frame.Form
	Once string
}

// contactNotices are the messages after a change, by the name in the page's address.
var contactNotices = frame.Notices{
	"created":   "The contact is created.",
	"changed":   "The changes are saved.",
	"unchanged": "No value was changed.",
	"archived":  "The contact is archived, is no longer mailable and left its lists. Its address, external id, attributes and opt-outs are kept.",
	"activated": "The contact is active again, with its attributes and earlier opt-outs. It is on no list.",
}

// factsOf returns what the top of the page shows.
func (h contactHandlers) factsOf(r *http.Request, v people.Visitor, c audience.Contact) (facts, error) {
	visitor, err := h.Directory.VisitorID(r.Context(), v.Org.ID, c.ID)
	f := facts{
		ID: c.ID, Email: frame.PlainName(c.Email), Name: frame.PlainName(c.Name()), Status: statusOf(c), Note: c.MailableNote(),
		Created: h.When(c.CreatedAt), Updated: h.When(c.UpdatedAt), VisitorID: visitor,
	}
	if f.Note == "Mailable." { // as the mark says
		f.Note = ""
	}
	if c.ExternalID != nil {
		f.ExternalID = frame.PlainName(*c.ExternalID)
	}
	return f, err
}

// readConsent replaces the contact's consent by that of the sending account. If the account
// does not answer, it returns the reason.
func (h contactHandlers) readConsent(r *http.Request, v people.Visitor, c *audience.Contact) string {
	var live struct {
		UnsubscribeAll   bool                `json:"unsubscribe_all"`
		TopicPreferences []topics.Preference `json:"topic_preferences"`
		Mailable         bool                `json:"mailable"`
	}
	if err := h.Read(r, v, "contacts_lookup", map[string]any{"email": c.Email}, &live); err != nil {
		return core.AsError(err).Message
	}
	c.UnsubscribeAll, c.TopicPreferences, c.Mailable = live.UnsubscribeAll, live.TopicPreferences, live.Mailable
	return ""
}

// valuesOf returns the contact's attribute values, in order of their names.
func (h contactHandlers) valuesOf(c audience.Contact, known choices) []valueRow {
	rows := make([]valueRow, 0, len(c.Attributes))
	for name, value := range c.Attributes {
		row := valueRow{Name: frame.PlainName(name), Value: frame.PlainName(textOf(value))}
		if at := slices.IndexFunc(known.Attributes, func(a attribute) bool { return a.Name == name }); at >= 0 {
			row.Description = frame.PlainName(known.Attributes[at].Description)
			if known.Attributes[at].Type == "datetime" {
				row.When = h.WhenText(row.Value)
			}
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b valueRow) int { return strings.Compare(a.Name, b.Name) })
	return rows
}

// delivery says whether mail reaches the contact's address.
type delivery struct {
	Suppressed    bool
	Reason        string
	Since         frame.When
	Undeliverable string
	Link          string // to the list of undeliverable addresses, or ""
	Missing       string // why the page cannot say it, or ""
}

// readDelivery reads whether the sending account suppresses the address, and whether events
// mark it as undeliverable.
func (h contactHandlers) readDelivery(r *http.Request, v people.Visitor, email string) delivery {
	var found struct {
		Suppressed    bool    `json:"suppressed"`
		Reason        *string `json:"reason"`
		SuppressedAt  string  `json:"suppressed_at"`
		Undeliverable *struct {
			Status string `json:"status"`
			Reason string `json:"reason"`
		} `json:"undeliverable"`
	}
	if missing := h.readPart(r, v, members.MayViewSuppression, "suppressions_check_address", map[string]any{"email": email}, &found); missing != "" {
		return delivery{Missing: missing}
	}
	d := delivery{Suppressed: found.Suppressed, Since: h.WhenText(found.SuppressedAt)}
	if found.Reason != nil {
		d.Reason = *found.Reason
	}
	if found.Undeliverable != nil {
		d.Undeliverable = found.Undeliverable.Status + " (" + strings.ReplaceAll(found.Undeliverable.Reason, "_", " ") + ")"
	}
	if v.Member.Has(members.MayViewUndeliverable) {
		d.Link = frame.Address(frame.Path+"/undeliverable", frame.Parameters{"q": email})
	}
	return d
}

// readPart reads one part of the page. If the part cannot be read, it returns the reason and
// what to do.
func (c *Contacts) readPart(r *http.Request, v people.Visitor, needs members.Permission, operation string, arguments, out any) string {
	if !v.Member.Has(needs) {
		return "You need the permission " + string(needs) + " to see this."
	}
	if err := c.Read(r, v, operation, arguments, out); err != nil {
		return frame.TextOf(err)
	}
	return ""
}
