package receiving

import (
	"net/http"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// webhookForm is the data of the form that sets the webhook of a domain.
type webhookForm struct {
	Form        frame.Form
	Once        string
	URL         string
	Patterns    string // one in a line
	Spam, Virus []frame.Option
	Domain      string
	Back        string
}

// posture returns the options of a posture.
func posture(chosen string) []frame.Option {
	return frame.ChooseOption([]frame.Option{{Value: "tag", Name: "Deliver it with its verdict"}, {Value: "drop", Name: "Do not deliver it"}}, chosen)
}

// showWebhook shows the form that sets the webhook.
func (h *Receiving) showWebhook(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	d, ok := h.domainOf(w, r, v)
	if !ok {
		return
	}
	current := webhook{SpamPosture: "tag", VirusPosture: "drop"}
	if d.Webhook != nil {
		current = *d.Webhook
	}
	h.webhookForm(w, r, v, d, current, nil)
}

func (h *Receiving) webhookForm(w http.ResponseWriter, r *http.Request, v people.Visitor, d domain, typed webhook, refused error) {
	problem, status := correctable(withoutIndex(refused))
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	title := "Set webhook"
	if d.Webhook != nil {
		title = "Edit webhook"
	}
	h.Show(w, r, v, status, frame.Screen{Page: "webhook", Title: title, Problem: problem, Head: under(d), Data: webhookForm{
		Form: frame.FormTo(v, d.path()+"/webhook"), Once: core.NewID(), URL: typed.URL, Patterns: strings.Join(typed.AllowPatterns, "\n"),
		Spam: posture(typed.SpamPosture), Virus: posture(typed.VirusPosture), Domain: d.Domain, Back: d.path(),
	}})
}

// withoutIndex returns an error about one of the patterns as one about the patterns.
func withoutIndex(err error) error {
	e := core.AsError(err)
	if err == nil || len(e.Fields) != 1 || !strings.HasPrefix(e.Fields[0].Field, "allow_patterns.") {
		return err
	}
	return core.Invalid("allow_patterns", e.Fields[0].Reason)
}

// under returns the head of a page below the page of a domain.
func under(d domain) frame.Head {
	return frame.Head{Parents: []frame.Link{{Path: d.path(), Name: d.Domain}}}
}

// saveWebhook sets the webhook. It shows the secret once if there was none before.
func (h *Receiving) saveWebhook(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	d, ok := h.domainOf(w, r, v)
	if !ok {
		return
	}
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	typed := webhook{
		URL: strings.TrimSpace(r.PostForm.Get("url")), AllowPatterns: strings.Fields(strings.ReplaceAll(r.PostForm.Get("patterns"), ",", " ")),
		SpamPosture: r.PostForm.Get("spam"), VirusPosture: r.PostForm.Get("virus"),
	}
	arguments := named(r)
	arguments["webhook_url"], arguments["spam_posture"], arguments["virus_posture"] = typed.URL, typed.SpamPosture, typed.VirusPosture
	if len(typed.AllowPatterns) > 0 {
		arguments["allow_patterns"] = typed.AllowPatterns
	}
	var saved domain
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "inbound_webhook_replace", Arguments: arguments, Once: once}, &saved); err != nil {
		h.webhookForm(w, r, v, d, typed, err)
		return
	}
	if saved.HMACSecret != "" {
		h.showSecret(w, r, v, saved, false)
		return
	}
	frame.RedirectWithNotice(w, d.path(), "saved")
}

// secretPage is the data of the page that shows a secret once.
type secretPage struct {
	Secret  string
	Rotated bool
	Path    string
	Test    frame.Form
	Guide   *frame.Link
}

// showSecret writes the page with the secret of a webhook.
func (h *Receiving) showSecret(w http.ResponseWriter, r *http.Request, v people.Visitor, d domain, rotated bool) {
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "secret", Title: "Signing secret", Head: under(d), Data: secretPage{
		Secret: d.HMACSecret, Rotated: rotated, Path: d.path(), Test: frame.FormTo(v, d.path()+"/webhook/test"), Guide: h.Guide(guide, "Verify the signature"),
	}})
}

// showRotate asks for confirmation before the secret is rotated.
func (h *Receiving) showRotate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.ask(w, r, v, "Rotate the secret?",
		"The old secret signs nothing more from now on. Your program refuses deliveries until it has the new one; they are repeated for about eleven hours.", "Rotate secret")
}

// rotate replaces the secret and shows the new one once.
func (h *Receiving) rotate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if _, ok := h.domainOf(w, r, v); !ok {
		return
	}
	var d domain
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "inbound_webhook_rotate_secret", Arguments: named(r)}, &d); err != nil {
		h.refuseOrFail(w, r, v, "The secret was not rotated", err)
		return
	}
	h.showSecret(w, r, v, d, true)
}

// refuseOrFail writes the page for a failed change: a refusal with the next step if the change
// contradicts what is stored, otherwise the error.
func (h *Receiving) refuseOrFail(w http.ResponseWriter, r *http.Request, v people.Visitor, heading string, err error) {
	if problem, status := correctable(err); problem != "" {
		h.Refuse(w, r, v, status, heading, problem)
		return
	}
	h.Fail(w, r, v, err)
}

// showRemove asks for confirmation before the webhook is removed.
func (h *Receiving) showRemove(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.ask(w, r, v, "Remove the webhook?",
		"Its URL, patterns and secret are deleted, and deliveries that wait are not sent. Mail that comes is logged and not delivered.", "Remove webhook")
}

// removeWebhook removes the webhook.
func (h *Receiving) removeWebhook(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.change(w, r, v, "inbound_webhook_delete", named(r), "removed")
}

// sendTest sends a test message to the webhook.
func (h *Receiving) sendTest(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	d, ok := h.domainOf(w, r, v)
	if !ok {
		return
	}
	made, err := h.permitted(v).SendTest(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, d.ID)
	if err != nil {
		h.refuseOrFail(w, r, v, "The test message was not sent", err)
		return
	}
	frame.RedirectWithNotice(w, LogPath+"/"+made.ID, "tested")
}

// momentField is the form of a datetime-local field, whose time is in UTC here.
const momentField = "2006-01-02T15:04"

// resendWindow sends the messages of a window again.
func (h *Receiving) resendWindow(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	d, ok := h.domainOf(w, r, v)
	if !ok {
		return
	}
	typedFrom, typedTo := r.PostForm.Get("from"), r.PostForm.Get("to")
	from, errFrom := time.Parse(momentField, typedFrom)
	to, errTo := time.Parse(momentField, typedTo)
	var err error
	n := 0
	switch {
	case errFrom != nil:
		err = core.Invalid("from", "must be a date and a time")
	case errTo != nil:
		err = core.Invalid("to", "must be a date and a time")
	case !from.Before(to):
		err = core.Invalid("from", "must be before the end")
	default:
		n, err = h.permitted(v).ResendWindow(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, d.ID, from, to)
	}
	if err != nil {
		h.domainPage(w, r, v, typedFrom, typedTo, err)
		return
	}
	notice := "window"
	if n == 0 {
		notice = "nothing"
	}
	frame.RedirectWithNotice(w, d.path(), notice)
}
