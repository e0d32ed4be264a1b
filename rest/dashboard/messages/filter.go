package messages

import (
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailstatus"
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
	if known, ok := mailstatus.Named(f.Status); ok {
		f.Status = known.Value
	}
	if v.Member.Has(members.MaySearchRecipients) {
		f.Recipient = q.Get("recipient")
	}
	return f
}

// parameters returns the filters as the parameters of the page's address.
func (f filter) parameters() frame.Parameters {
	return frame.Parameters{
		"status": f.Status, "template": f.Template, "channel": f.Channel, "recipient": f.Recipient, "identity": f.Identity, "from_day": f.From, "to_day": f.To,
	}
}

// filterLabels are the names of the filters in refusals.
var filterLabels = frame.Labels{
	"status": "The status", "channel": "The channel", "recipient": "The recipient", "template": "The template", "identity": "The domain of the sender",
	"from": "The first day", "to": "The last day",
}

// arguments returns the arguments of the operation messages_list for the filters. channels
// has the ids of channels by slug. oldest is the first day whose messages the plan keeps.
// arguments fails with validation_failed for a filter that cannot be used.
func (f filter) arguments(channels frame.Channels, oldest time.Time) (map[string]any, error) {
	known, ok := mailstatus.Named(f.Status)
	if !ok && f.Status != "" {
		return nil, core.Invalid("status", frame.Quoted(f.Status)+" does not exist").WithNext("Choose one of the list.")
	}
	channel, err := channels.IDOf(f.Channel)
	if err != nil {
		return nil, err
	}
	from, to, err := frame.DayRange(f.From, f.To)
	if err != nil {
		return nil, err
	}
	if !from.IsZero() && from.Before(oldest) {
		return nil, core.Invalid("from", "is too early: the plan does not keep messages of "+f.From).
			WithNext("Choose a day from " + oldest.Format(frame.DateLayout) + " on.")
	}
	return frame.SetArguments(map[string]any{
		"status": known.Type, "template": f.Template, "channel": channel, "recipient": f.Recipient, "identity": f.Identity,
		"from": from, "to": to, "limit": frame.PageSize,
	}), nil
}
