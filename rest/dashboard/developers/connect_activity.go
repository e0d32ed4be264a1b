package developers

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// activityRow is the data of the calls of one tool by one client and person. The numbers
// are texts with commas, "" for 0.
type activityRow struct {
	Client, Person                           string
	Activity                                 string // page with the calls of this client only
	Tool                                     string // "" for requests that named no tool
	Calls, Asked, Confirmed, Refused, Failed string
	Last                                     frame.When
}

// activityPage is the data of the page of calls.
type activityPage struct {
	Rows []activityRow
	// Client is the name of the only client whose calls are shown, "" for all clients.
	Client string
	All    bool // whether the calls of all members are shown
	More   bool // whether rows with fewer calls are left out
	Days   int
	Empty  frame.Empty
	Grants string
}

// maxClientID is the longest client id in bytes that the filter takes.
const maxClientID = 1000

// showActivity shows the calls of assistants in the last days, by tool. The parameter
// client_id selects one client.
func (h connectHandlers) showActivity(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	client := r.URL.Query().Get("client_id")
	if len(client) > maxClientID {
		h.NoSuchPage(w, r, v)
		return
	}
	rows, err := h.usage(r, v, client)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := activityPage{All: whose(v) == "", More: len(rows) == maxUsage, Days: usageDays, Grants: GrantsPath, Empty: frame.Empty{
		Text:   "No assistant has called a tool in this time.",
		Action: &frame.Action{Path: ConnectPath, Name: "Connect an assistant"},
	}}
	names := grantHandlers(h).namesFor(v)
	for _, u := range rows {
		of, err := names.client(r.Context(), u.ClientID)
		if err != nil {
			h.Fail(w, r, v, err)
			return
		}
		row := activityRow{
			Client: frame.PlainName(of.Name), Activity: activityPath(u.ClientID), Tool: u.Operation, Calls: frame.WithCommas(u.Calls),
			Asked: number(u.Asked), Confirmed: number(u.Confirmed), Refused: number(u.Refused), Failed: number(u.Failed), Last: h.When(u.LastAt),
		}
		if u.UserID != "" {
			if row.Person, err = names.person(r.Context(), u.UserID); err != nil {
				h.Fail(w, r, v, err)
				return
			}
		}
		if client != "" {
			data.Client = row.Client
		}
		data.Rows = append(data.Rows, row)
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "connect_activity", Title: "Activity of assistants", Data: data, Head: frame.Head{
		Lead:    "Calls at the agent endpoint by tool. The audit log has each change.",
		Actions: []frame.Action{{Path: GrantsPath, Name: "Manage access"}},
	}})
}

// number returns a count as a text, "" for 0.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return frame.WithCommas(n)
}
