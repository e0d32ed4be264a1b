package inboxes

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/mailhelm/mailhelm/core/inbound/safehtml"
	"github.com/mailhelm/mailhelm/core/mailhtml"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// messagePage is the data of the page of a message.
type messagePage struct {
	From, Sender  frame.Wrapped
	To, Cc, Reply []frame.Wrapped
	Recipients    []frame.Wrapped
	Received      frame.When
	Codes         []string
	Links         []foundLink
	Verdicts      []frame.Verdict
	Preview       string // path of the HTML, "" without HTML
	Blank         bool   // the HTML has nothing to show
	Text, HTML    string
	TextURL       string // of a text that is too large to be shown
	HTMLURL       string
	RawURL        string
	Files         []fileRow
	Headers       []header
	Warnings      []string
}

// foundLink is a link of the text, and in words what it is for.
type foundLink struct {
	URL  frame.Wrapped
	Kind string
}

// linkKinds are the kinds of links in words.
var linkKinds = map[string]string{"confirm": "Confirm address", "reset": "Reset password", "sign_in": "Sign in", "unsubscribe": "Unsubscribe"}

// linkKind returns the kind of a link in words.
func linkKind(kind string) string { return cmp.Or(linkKinds[kind], "Other") }

type fileRow struct{ Name, Type, Size, URL string }

// messageOf returns the message whose position is in the path. If it returns false, it has
// written the response.
func (h *Inboxes) messageOf(w http.ResponseWriter, r *http.Request, v people.Visitor) (inbox, message, bool) {
	var i inbox
	if !h.ReadNamed(w, r, v, "inboxes_get", &i) {
		return i, message{}, false
	}
	cursor := r.PathValue("cursor")
	position, err := strconv.Atoi(cursor)
	if err != nil || position < 1 {
		h.NoSuchPage(w, r, v)
		return i, message{}, false
	}
	found, err := h.messages(r, v, i, position-1)
	if err != nil {
		h.Fail(w, r, v, err)
		return i, message{}, false
	}
	if len(found) == 0 || found[0].Cursor != cursor {
		h.NoSuchPage(w, r, v)
		return i, message{}, false
	}
	return i, found[0], true
}

// showMessage shows one message.
func (h *Inboxes) showMessage(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	i, m, ok := h.messageOf(w, r, v)
	if !ok {
		return
	}
	content := m.Message
	data := messagePage{
		From: m.sender(), Sender: frame.Wrapped(frame.PlainName(m.Sender)), To: texts(content.To), Cc: texts(content.Cc), Reply: texts(content.ReplyTo), Recipients: plainWrapped(m.Recipients),
		Received: h.When(m.ReceivedAt), Codes: plain(m.Extracted.Codes), Text: frame.PlainName(content.TextBody), HTML: frame.PlainName(content.HTMLBody),
		TextURL: content.TextBodyURL, HTMLURL: content.HTMLBodyURL, RawURL: m.RawURL, Warnings: plain(content.Warnings), Verdicts: frame.VerdictsOf(m.Verdicts),
	}
	for _, l := range m.Extracted.Links {
		data.Links = append(data.Links, foundLink{frame.Wrapped(frame.PlainName(l.URL)), linkKind(l.Kind)})
	}
	for _, f := range content.Attachments {
		data.Files = append(data.Files, fileRow{frame.PlainName(f.Filename), frame.PlainName(f.ContentType), sizeText(f.Size), f.URL})
	}
	for _, f := range content.Headers {
		data.Headers = append(data.Headers, header{frame.PlainName(f.Name), frame.PlainName(f.Value)})
	}
	if content.HTMLBody != "" {
		if data.Blank = !m.showsHTML(); !data.Blank {
			data.Preview = r.URL.Path + "/html"
			frame.AllowMailFrames(w)
		}
	}
	title := frame.PlainName(content.Subject)
	if title == "" {
		title = "Message without a subject"
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "message", Title: title, Head: frame.Head{Parents: []frame.Link{i.link()}}, Data: data})
}

func texts(all []address) []frame.Wrapped {
	shown := make([]frame.Wrapped, len(all))
	for i, a := range all {
		shown[i] = a.text()
	}
	return shown
}

// showsHTML reports whether the preview shows anything. The HTML of some mail is only scripts and
// remote images. A message with embedded images counts as one that does.
func (m message) showsHTML() bool {
	return safehtml.Shows(safehtml.Clean(m.Message.HTMLBody, nil)) || slices.ContainsFunc(m.Message.Attachments, func(f file) bool { return f.ContentID != "" })
}

// sizeText returns a size in bytes, KB or MB.
func sizeText(bytes int64) string {
	const kb, mb = 1 << 10, 1 << 20
	switch {
	case bytes >= mb:
		return strconv.FormatInt((bytes+mb/2)/mb, 10) + " MB"
	case bytes >= kb:
		return strconv.FormatInt((bytes+kb/2)/kb, 10) + " KB"
	}
	return strconv.FormatInt(bytes, 10) + " bytes"
}

// writeHTML writes the HTML of a message for the frame on its page.
func (h *Inboxes) writeHTML(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	i, m, ok := h.messageOf(w, r, v)
	if !ok {
		return
	}
	if !frame.IsForFrame(r) {
		frame.SeeOther(w, i.path()+"/messages/"+m.Cursor)
		return
	}
	position, _ := strconv.Atoi(m.Cursor) // messageOf has compared it with the path
	embedded := pictures{files: m.Message.Attachments, read: map[string][]byte{}, open: func(n int) (io.ReadCloser, error) {
		return h.Attachments.OpenAttachment(r.Context(), v.Org.ID, i.ID, position, n)
	}}
	frame.WriteMail(w, safeHTML(m.Message.HTMLBody, embedded.content))
}

// previewStart is the beginning of a document with the HTML of a message: mail programs show
// mail without a font of its own without serifs. Links have no address here, only a title.
const previewStart = `<!doctype html><html><head><meta charset="utf-8"><title>Message</title><style>body{font-family:sans-serif;overflow-wrap:break-word}img,table{max-width:100%}a[title]{color:#0b57d0;text-decoration:underline}</style></head><body>`

// safeHTML returns a document with the HTML of a message without its active content. Rules of
// style elements are written into the elements first, because the elements lose their classes.
// embedded returns images of the message; see safehtml.Clean.
func safeHTML(source string, embedded func(contentID string) []byte) string {
	if inlined, err := mailhtml.Inline(source); err == nil { // otherwise it has too many rules
		source = inlined
	}
	return previewStart + safehtml.Clean(source, embedded) + "</body></html>"
}
