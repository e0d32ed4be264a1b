package inboxes

import (
	"embed"
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// The paths of the pages.
const (
	Path    = frame.Path + "/inboxes"
	newPath = Path + "/new"
)

// Config configures the pages of this package. All fields are required.
type Config struct {
	// Attachments has the images that the HTML of messages shows.
	Attachments Attachments
}

// Inboxes has the pages about temporary inboxes; see dashboard.Room.
type Inboxes struct {
	Config
	*frame.Pages
}

// New returns the pages about temporary inboxes. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Inboxes, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Inboxes{cfg, pages}, nil
}

// Routes returns the routes of the pages.
func (h *Inboxes) Routes() []frame.Route {
	const view, manage = members.MayViewInbound, members.MayManageInbound
	return []frame.Route{
		{Path: "/inboxes", Needs: view, Get: h.showInboxes},
		{Path: "/inboxes/new", Needs: manage, Get: h.showNew, Post: h.create},
		{Path: "/inboxes/{id}", Needs: view, Get: h.showInbox},
		{Path: "/inboxes/{id}/messages/{cursor}", Needs: view, Get: h.showMessage},
		{Path: "/inboxes/{id}/messages/{cursor}/html", Needs: view, Get: h.writeHTML},
		{Path: "/inboxes/{id}/edit", Needs: manage, Get: h.showEdit, Post: h.edit},
		{Path: "/inboxes/{id}/delete", Needs: manage, Get: h.showDelete, Post: h.delete},
		{Path: "/inboxes/{id}/links", Needs: manage, Get: h.showLinks, Post: h.addLink},
		{Path: "/inboxes/{id}/links/{link}/revoke", Needs: manage, Post: h.revokeLink},
	}
}

// inbox has the members of an inbox that the pages show.
type inbox struct {
	ID             string    `json:"id"`
	Address        string    `json:"address"`
	ExpiresAt      time.Time `json:"expires_at"`
	PollURL        string    `json:"poll_url"`
	Restricted     bool      `json:"restricted"`
	AccountRef     string    `json:"account_ref"`
	Visibility     string    `json:"visibility"`
	Label          string    `json:"label"`
	Status         string    `json:"status"`
	AllowedSenders []string  `json:"allowed_senders"`
	MessageCount   int       `json:"message_count"`
	DroppedCount   int       `json:"dropped_count"`
	CreatedAt      time.Time `json:"created_at"`
	PullURL        string    `json:"pull_url"`
}

// The values of members.
const (
	active  = "active"
	deleted = "deleted"
	shared  = "org"
)

func (i inbox) path() string { return Path + "/" + i.ID }

// link returns the link to the page of the inbox.
func (i inbox) link() frame.Link { return frame.Link{Path: i.path(), Name: i.Address} }

// mark returns the class of the mark with the state of the inbox.
func (i inbox) mark() string {
	if i.Status == active {
		return "good"
	}
	return "test"
}

// endOf returns when an inbox ends or has expired. For an inbox that was deleted before, it
// returns the zero value: the time of the deletion is not known here.
func (h *Inboxes) endOf(i inbox) frame.When {
	if i.Status == deleted {
		return frame.When{}
	}
	return h.When(i.ExpiresAt)
}

// row is an inbox in the list.
type row struct {
	Path                string
	Address             frame.Wrapped
	Label, Status, Mark string
	Shared              bool
	Messages, Dropped   int
	Ends                frame.When
}

// listPage is the data of the list.
type listPage struct {
	All, Active string
	OnlyActive  bool
	Rows        []row
	Empty       frame.Empty
}

// notices are the messages that the pages show after a change, by name.
var notices = frame.Notices{
	"edited":  "The inbox is changed.",
	"deleted": "The inbox has ended. Its messages are deleted.",
	"revoked": "The pull link no longer works.",
}

// showInboxes lists the inboxes of the visitor, and those that others share.
func (h *Inboxes) showInboxes(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	arguments := map[string]any{"scope": "org", "limit": frame.PageSize}
	data := listPage{All: Path + "?status=all", Active: Path, OnlyActive: r.URL.Query().Get("status") != "all"}
	if data.OnlyActive {
		arguments["status"] = active
	}
	var found struct {
		Data []inbox `json:"data"`
	}
	if err := h.Read(r, v, "inboxes_list", arguments, &found); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	for _, i := range found.Data {
		data.Rows = append(data.Rows, row{
			Path: i.path(), Address: frame.Wrapped(i.Address), Label: frame.PlainName(i.Label), Status: i.Status, Mark: i.mark(), Shared: i.Visibility == shared,
			Messages: i.MessageCount, Dropped: i.DroppedCount, Ends: h.endOf(i),
		})
	}
	add := frame.Action{Path: newPath, Name: "Create inbox", Primary: true}
	head := frame.Head{Lead: "A temporary inbox receives mail for a minute up to an hour. Use its address to test a sign-up, and read the code here or in a program."}
	data.Empty = frame.Empty{Text: "No inbox is active. Create one, and its mail appears here within a second."}
	if !data.OnlyActive {
		data.Empty.Text = "No inbox was created in the last 30 days."
	}
	if v.Member.Has(members.MayManageInbound) {
		head.Actions = []frame.Action{add}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "inboxes", Title: "Inboxes", Notice: notices.NoticeOf(r), Head: head, Data: data})
}
