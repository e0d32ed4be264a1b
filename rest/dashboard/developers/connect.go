package developers

import (
	"fmt"
	"html/template"
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/usage"
	"github.com/mailhelm/mailhelm/rest/assistants"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// usageDays is the number of days whose calls the page counts.
const usageDays = 30

// maxUsage is the maximum number of pairs of a client and a person whose calls the page of
// assistants reads. Those with the most calls are read. It is larger than maxGrants, because
// calls with revoked grants are counted too.
const maxUsage = 1000

// connected is the data of a connected assistant on the page.
type connected struct {
	Client, Person string
	Calls          string
	Last           frame.When
	// Activity is the page with the calls of the client.
	Activity string
}

// assistantKind is the data of a group of assistants.
type assistantKind struct {
	Kind       assistants.Kind
	Assistants []assistantView
}

// assistantView is the data of one assistant. Install is a link that the browser hands to
// the assistant, "" for none.
type assistantView struct {
	assistants.Assistant

	Install template.URL
}

// connectPage is the data of the page "Connect an assistant".
type connectPage struct {
	Address   string
	Connected []connected
	More      bool // whether there are more, which were connected earlier
	Kinds     []assistantKind
}

// showConnect shows how to connect each assistant, and the assistants that are connected:
// the visitor's own, or those of all members for a visitor who may manage credentials.
func (h connectHandlers) showConnect(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	grants, more, err := h.newestGrants(r.Context(), v, access.GrantFilter{UserID: whose(v), AtAgent: true})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	totals, err := h.usage(r, v, usageDays, usage.Filter{Totals: true, Limit: maxUsage})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := connectPage{Address: h.MCPURL + "/mcp", More: more, Kinds: kindsOf(assistants.All(h.MCPURL))}
	names := grantHandlers(h).namesFor(v)
	for _, g := range grants {
		row, err := names.row(r.Context(), g)
		if err != nil {
			h.Fail(w, r, v, err)
			return
		}
		sum := callsOf(totals, g)
		data.Connected = append(data.Connected, connected{
			Client: row.Client, Person: row.Person, Calls: core.WithCommas(sum.Calls), Last: h.When(sum.LastAt), Activity: activityPath(g.ClientID),
		})
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "connect", Title: "Connect an assistant", Data: data, Head: frame.Head{
		Lead:    "An assistant needs only the address of the agent endpoint. It opens your browser, where you choose what it may do.",
		Actions: []frame.Action{{Path: ActivityPath, Name: "Show activity"}},
	}})
}

// whose returns the user whose grants and calls the visitor may see, "" for those of all
// members.
func whose(v people.Visitor) string {
	if v.Member.Has(members.MayManageCredentials) {
		return ""
	}
	return v.User.ID
}

// usage returns the calls of the last days that match the filter and that the visitor may
// see.
func (h connectHandlers) usage(r *http.Request, v people.Visitor, days int, f usage.Filter) ([]usage.Row, error) {
	f.UserID, f.Since = whose(v), h.Developers.Clock().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-days)
	rows, err := h.Usage.Usage(r.Context(), v.Org.ID, f)
	if err != nil {
		return nil, fmt.Errorf("numbers of calls: %w", err)
	}
	return rows, nil
}

// callsOf returns the counts of the client and the person of a grant.
func callsOf(totals []usage.Row, g access.Grant) usage.Counts {
	for _, r := range totals {
		if r.ClientID == g.ClientID && r.UserID == g.UserID {
			return r.Counts
		}
	}
	return usage.Counts{}
}

// activityPath returns the path of the page with the calls of a client.
func activityPath(clientID string) string {
	return frame.Address(ActivityPath, frame.Parameters{"client_id": clientID})
}

// kindsOf groups assistants by their kind.
func kindsOf(list []assistants.Assistant) []assistantKind {
	var kinds []assistantKind
	for _, kind := range assistants.Kinds {
		group := assistantKind{Kind: kind}
		for _, a := range list {
			if a.Kind == kind {
				// The link consists of the server's own configuration.
				group.Assistants = append(group.Assistants, assistantView{a, template.URL(a.Install)}) //nolint:gosec // not from a request
			}
		}
		kinds = append(kinds, group)
	}
	return kinds
}
