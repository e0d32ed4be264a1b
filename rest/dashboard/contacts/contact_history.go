package contacts

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	audience "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailstatus"
)

// shortList is the number of activities and messages on the page of a contact.
const shortList = 8

// activities is a page of what a contact did, newest first.
type activities struct {
	Rows    []activityRow
	Missing string // why the page cannot show them, or ""
	All     string // the path of the page with all activities, "" if these are all
	Next    string
	None    frame.Empty // in place of the activities
}

// activityRow is the data of one activity.
type activityRow struct {
	Name, Source, Properties string
	When                     frame.When
}

// messages is a page of the messages to a contact, newest first.
type messages struct {
	Rows    []messageRow
	Missing string
	All     string
	Next    string
	None    frame.Empty
}

// messageRow is the data of one message.
type messageRow struct {
	Path                       string // of the message's page, or "" if the visitor may not see it
	Subject, Template, Channel string
	Status                     mark
	Sent                       frame.When
}

// readActivities reads a page of what the contact did.
func (c *Contacts) readActivities(r *http.Request, v people.Visitor, id string, limit int, cursor string) activities {
	var found frame.List[struct {
		Name       string          `json:"name"`
		OccurredAt string          `json:"occurred_at"`
		Source     string          `json:"source"`
		Properties json.RawMessage `json:"properties"`
	}]
	asked := frame.SetArguments(map[string]any{"id": id, "limit": limit, "cursor": cursor})
	shown := activities{Missing: c.readPart(r, v, members.MayViewActivities, "contacts_list_activities", asked, &found)}
	shown.Next = found.Next()
	shown.None = frame.Empty{
		Text:  "No activity is recorded. Websites and programs record what contacts do.",
		Guide: c.Guide("/guides/activities", "Read how to record activities"),
	}
	for _, a := range found.Data {
		shown.Rows = append(shown.Rows, activityRow{
			Name: frame.PlainName(a.Name), Source: a.Source, Properties: propertiesText(a.Properties), When: c.WhenText(a.OccurredAt),
		})
	}
	if shown.Next != "" {
		shown.All = pathOf(id) + "/activities"
	}
	return shown
}

// readMessages reads a page of the messages to the contact's address, of the last 30 days
// unless the organization keeps them for less.
func (c *Contacts) readMessages(r *http.Request, v people.Visitor, of audience.Contact, limit int, cursor string) messages {
	var found frame.List[struct {
		ID       string `json:"id"`
		Subject  string `json:"subject"`
		Template string `json:"template"`
		Channel  string `json:"channel"`
		Status   string `json:"status"`
		SentAt   string `json:"sent_at"`
	}]
	asked := frame.SetArguments(map[string]any{"email": of.Email, "limit": limit, "cursor": cursor})
	shown := messages{Missing: c.readPart(r, v, members.MaySearchRecipients, "recipients_messages", asked, &found)}
	shown.Next = found.Next()
	shown.None = frame.Empty{Text: "No message was sent to this address in the last 30 days."}
	if v.Member.Has(members.MayViewAnalytics) {
		shown.None.Action = &frame.Action{Path: messagesPath, Name: "Search messages"}
	}
	for _, m := range found.Data {
		status := mailstatus.Of(m.Status)
		row := messageRow{
			Subject: frame.PlainName(m.Subject), Template: frame.PlainName(m.Template), Channel: frame.PlainName(m.Channel),
			Sent: c.WhenText(m.SentAt), Status: mark{status.Mark, status.Name},
		}
		if v.Member.Has(members.MayViewAnalytics) {
			row.Path = messagesPath + "/" + url.PathEscape(m.ID)
		}
		shown.Rows = append(shown.Rows, row)
	}
	if shown.Next != "" {
		shown.All = pathOf(of.ID) + "/messages"
	}
	return shown
}

// longestProperties is the number of bytes of an activity's properties that a row shows.
const longestProperties = 300

// propertiesText returns the properties of an activity as one line, cut off if it is long.
func propertiesText(properties json.RawMessage) string {
	text := string(properties)
	if text == "{}" || text == "null" {
		return ""
	}
	if len(text) > longestProperties {
		text = strings.ToValidUTF8(text[:longestProperties], "") + "…"
	}
	return frame.PlainName(text)
}

// textOf returns a value of JSON as text.
func textOf(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// historyPage is the data of the pages with all activities or messages of a contact.
type historyPage struct {
	Activities activities
	Messages   messages
	Why        why
	Pager      frame.Pager
}

// showActivities shows all activities of a contact, page by page.
func (h contactHandlers) showActivities(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.showHistory(w, r, v, "Activities", func(c audience.Contact, cursor string) (historyPage, int, string) {
		a := h.readActivities(r, v, c.ID, frame.PageSize, cursor)
		return historyPage{Activities: a}, len(a.Rows), a.Next
	})
}

// showMessages shows all messages to a contact, page by page.
func (h contactHandlers) showMessages(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.showHistory(w, r, v, "Messages", func(c audience.Contact, cursor string) (historyPage, int, string) {
		m := h.readMessages(r, v, c, frame.PageSize, cursor)
		return historyPage{Messages: m}, len(m.Rows), m.Next
	})
}

// showSegments shows the contact's standing in all segments, page by page. A cursor is the
// number of the segments before the page.
func (h contactHandlers) showSegments(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.showHistory(w, r, v, "Segments", func(c audience.Contact, cursor string) (historyPage, int, string) {
		from, err := strconv.Atoi(cursor)
		if err != nil || from < 0 || from > mostSegments {
			from = 0
		}
		shown, next := h.readWhy(r, v, c, from), ""
		if shown.Total > from+shownSegments {
			next = strconv.Itoa(from + shownSegments)
		}
		return historyPage{Why: shown}, len(shown.Rows), next
	})
}

// mostSegments is an upper limit of the number of segments that a page skips.
const mostSegments = 1_000_000

// showHistory writes a page that the function read has read. read returns the data, the
// number of its rows and the cursor of the next page.
func (h contactHandlers) showHistory(w http.ResponseWriter, r *http.Request, v people.Visitor, title string, read func(c audience.Contact, cursor string) (historyPage, int, string)) {
	c, err := h.Directory.Contact(r.Context(), v.Org.ID, r.PathValue("id"))
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data, rows, next := read(c, r.URL.Query().Get(frame.ParamCursor))
	data.Pager = frame.PagerOf(r.URL.Path, r.URL.Query(), rows, next, -1)
	data.Activities.All, data.Messages.All, data.Why.All = "", "", ""
	h.Show(w, r, v, http.StatusOK, frame.Screen{
		Page: "contact_history", Title: title + " of " + frame.PlainName(c.Email),
		Head: frame.Head{Title: title, Parents: []frame.Link{{Path: pathOf(c.ID), Name: frame.PlainName(c.Email)}}}, Data: data,
	})
}
