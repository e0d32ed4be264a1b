package messages

import (
	"net/http"
	"net/url"
	"time"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// filter has the filters of the search, as the page's address states them.
type filter struct {
	Status, Template, Channel, Recipient string
	// Identity is the domain of the sender, or an address in it.
	Identity string
	// From and To are days, both included. The address may state one day as "date" instead.
	From, To string
}

// filterOf reads the filters from the page's address. A visitor who may not search
// recipients has no filter by recipient.
func filterOf(r *http.Request, v people.Visitor) filter {
	q := r.URL.Query()
	f := filter{
		Status: q.Get("status"), Template: q.Get("template"), Channel: q.Get("channel"), Identity: q.Get("identity"),
		From: q.Get("from_day"), To: q.Get("to_day"),
	}
	if day := q.Get("date"); day != "" && f.From == "" && f.To == "" {
		f.From, f.To = day, day
	}
	if known, ok := statusNamed(f.Status); ok {
		f.Status = known.Value
	}
	if v.Member.Has(members.MaySearchRecipients) {
		f.Recipient = q.Get("recipient")
	}
	return f
}

// query returns the filters as the query of an address.
func (f filter) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{
		"status": f.Status, "template": f.Template, "channel": f.Channel, "recipient": f.Recipient, "identity": f.Identity, "from_day": f.From, "to_day": f.To,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// listArguments are the arguments of the operation messages_list.
type listArguments struct {
	From      *time.Time `json:"from,omitempty"`
	To        *time.Time `json:"to,omitempty"`
	Channel   string     `json:"channel,omitempty"`
	Status    string     `json:"status,omitempty"`
	Template  string     `json:"template,omitempty"`
	Recipient string     `json:"recipient,omitempty"`
	Identity  string     `json:"identity,omitempty"`
	Limit     int        `json:"limit"`
	Cursor    string     `json:"cursor,omitempty"`
}

// arguments returns the arguments of the operation for the filters. channels has the ids of
// channels by slug. If a filter cannot be used, arguments returns a text that says why.
func (f filter) arguments(channels []channel, oldest time.Time) (listArguments, string) {
	a := listArguments{Template: f.Template, Recipient: f.Recipient, Identity: f.Identity, Limit: frame.PageSize}
	if f.Status != "" {
		known, ok := statusNamed(f.Status)
		if !ok {
			return a, "The status " + quoted(f.Status) + " does not exist. Choose one of the list."
		}
		a.Status = known.Type
	}
	if f.Channel != "" {
		if a.Channel = idOfChannel(channels, f.Channel); a.Channel == "" {
			return a, "The channel " + quoted(f.Channel) + " does not exist, or you may not view channels. Choose another channel."
		}
	}
	from, okFrom := dayOf(f.From)
	to, okTo := dayOf(f.To)
	switch {
	case !okFrom || !okTo:
		return a, "A day has the form 2026-03-12. Choose the days again."
	case from != nil && from.Before(oldest):
		return a, "The plan does not keep messages of " + f.From + ". Choose a day from " + oldest.Format(time.DateOnly) + " on."
	case from != nil && to != nil && to.Before(*from):
		return a, "The first day is after the last day. Swap the days."
	}
	a.From = from
	if to != nil {
		end := to.AddDate(0, 0, 1)
		a.To = &end
	}
	return a, ""
}

// oldestDay returns the first day of which the organization's plan keeps all messages.
func oldestDay(now time.Time, retentionDays int) time.Time {
	return now.UTC().AddDate(0, 0, -retentionDays).Truncate(24*time.Hour).AddDate(0, 0, 1)
}

// dayOf returns the beginning of a day in UTC, nil for "". It returns false for a text that
// is not a day.
func dayOf(text string) (*time.Time, bool) {
	if text == "" {
		return nil, true
	}
	day, err := time.Parse(time.DateOnly, text)
	return &day, err == nil
}

// channel is a channel as the operation channels_list returns it.
type channel struct {
	ID   string `json:"id"`
	Slug string `json:"slug"`
}

// idOfChannel returns the id of the channel with this slug, "" for an unknown one.
func idOfChannel(channels []channel, slug string) string {
	for _, c := range channels {
		if c.Slug == slug {
			return c.ID
		}
	}
	return ""
}

// quoted returns a text of another person in quotation marks, without invisible characters.
func quoted(text string) string { return "“" + frame.PlainName(text) + "”" }
