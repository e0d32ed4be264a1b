package inboxes

import (
	"net/http"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// inboxPage is the data of the page of an inbox.
type inboxPage struct {
	Inbox   inbox
	Address frame.Wrapped
	Allowed []frame.Wrapped
	Mark    string
	Label   string
	Live    bool
	Reload  string
	Ends    frame.When // the zero value if the inbox was deleted
	Created frame.When
	Rows    []messageRow
	// More is true if the inbox has more messages than the page shows.
	More  bool
	Links string // path of the page of the pull links, "" if the visitor may not manage them
}

// messageRow is a message in the list of an inbox.
type messageRow struct {
	Path, Subject string
	From          frame.Wrapped
	Codes         []string
	Files         int
	Received      frame.When
}

// message has the members of a message that the pages show.
type message struct {
	MessageID  string            `json:"message_id"`
	Cursor     string            `json:"cursor"`
	ReceivedAt time.Time         `json:"received_at"`
	Sender     string            `json:"sender"`
	Recipients []string          `json:"recipients"`
	Verdicts   map[string]string `json:"verdicts"`
	RawURL     string            `json:"raw_url"`
	Message    struct {
		From        *address  `json:"from"`
		To          []address `json:"to"`
		Cc          []address `json:"cc"`
		ReplyTo     []address `json:"reply_to"`
		Subject     string    `json:"subject"`
		Headers     []header  `json:"headers"`
		TextBody    string    `json:"text_body"`
		TextBodyURL string    `json:"text_body_url"`
		HTMLBody    string    `json:"html_body"`
		HTMLBodyURL string    `json:"html_body_url"`
		Attachments []file    `json:"attachments"`
		Warnings    []string  `json:"warnings"`
	} `json:"message"`
	Extracted struct {
		Codes []string `json:"codes"`
		Links []struct {
			URL  string `json:"url"`
			Kind string `json:"kind"`
		} `json:"links"`
	} `json:"extracted"`
}

type address struct {
	Address string `json:"address"`
	Name    string `json:"name"`
}

// text returns the address with its name, without invisible characters.
func (a address) text() frame.Wrapped {
	if a.Name == "" {
		return frame.Wrapped(frame.PlainName(a.Address))
	}
	return frame.Wrapped(frame.PlainName(a.Name + " <" + a.Address + ">"))
}

type header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type file struct {
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	ContentID   string `json:"content_id"`
	Size        int64  `json:"size"`
	URL         string `json:"url"`
}

// sender returns the author of a message, or its envelope sender if it has none.
func (m message) sender() frame.Wrapped {
	if m.Message.From != nil {
		return m.Message.From.text()
	}
	return frame.Wrapped(frame.PlainName(m.Sender))
}

// showInbox shows an inbox. While it is active, the page reads its messages again every two
// seconds; without scripts the visitor reloads it.
func (h *Inboxes) showInbox(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	var i inbox
	if !h.ReadNamed(w, r, v, "inboxes_get", &i) {
		return
	}
	data := inboxPage{
		Inbox: i, Address: frame.Wrapped(i.Address), Allowed: plainWrapped(i.AllowedSenders), Mark: i.mark(), Label: frame.PlainName(i.Label),
		Live: i.Status == active, Reload: i.path(), Ends: h.endOf(i), Created: h.When(i.CreatedAt),
	}
	found, err := h.newest(r, v, i)
	if err != nil && core.AsError(err).Code == core.CodeInboxExpired {
		data.Live, err = false, nil
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	for n := len(found) - 1; n >= 0; n-- { // the newest first
		m := found[n]
		data.Rows = append(data.Rows, messageRow{
			Path: i.path() + "/messages/" + m.Cursor, Subject: frame.PlainName(m.Message.Subject), From: m.sender(), Codes: plain(m.Extracted.Codes),
			Files: len(m.Message.Attachments), Received: h.When(m.ReceivedAt),
		})
	}
	data.More = len(found) > 0 && len(found) < i.MessageCount
	var head frame.Head
	if v.Member.Has(members.MayManageInbound) && data.Live {
		data.Links = i.path() + "/links"
		head.Actions = []frame.Action{{Path: i.path() + "/edit", Name: "Edit inbox"}, {Path: i.path() + "/delete", Name: "Delete inbox", Danger: true}}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "inbox", Title: i.Address, Notice: notices.NoticeOf(r), Head: head, Data: data})
}

const (
	// shownMessages is how many messages the page of an inbox shows, the newest.
	shownMessages = 50
	// maxReads bounds the reads for one page. One read returns at most 4 MB.
	maxReads = 4
)

// newest returns the last messages of an inbox, oldest first. Positions count the messages of the
// inbox from 1.
func (h *Inboxes) newest(r *http.Request, v people.Visitor, i inbox) ([]message, error) {
	var all []message
	after := max(0, i.MessageCount-shownMessages)
	for range maxReads {
		found, err := h.messages(r, v, i, after)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
		if len(found) == 0 || len(all) >= shownMessages {
			break
		}
		if after, err = strconv.Atoi(found[len(found)-1].Cursor); err != nil || after >= i.MessageCount {
			break // what has arrived since is shown by the next read of the page
		}
	}
	return all, nil
}

// plain returns texts without invisible characters.
func plain(texts []string) []string {
	shown := make([]string, len(texts))
	for i, text := range texts {
		shown[i] = frame.PlainName(text)
	}
	return shown
}

// plainWrapped is plain for texts with addresses.
func plainWrapped(texts []string) []frame.Wrapped { return frame.WrappedAll(plain(texts)) }

// messages returns the messages of an inbox after a position. It returns none for an inbox that
// has ended.
func (h *Inboxes) messages(r *http.Request, v people.Visitor, i inbox, after int) ([]message, error) {
	if i.Status != active {
		return nil, nil
	}
	var arrived struct {
		Messages []message `json:"messages"`
	}
	err := h.Read(r, v, "inboxes_messages", map[string]any{"id": i.ID, "after": after}, &arrived)
	return arrived.Messages, err
}
