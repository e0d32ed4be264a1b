package registry

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
)

// activitiesNamed returns the path of the list of activities with one name.
func activitiesNamed(name string) string {
	return frame.Address(ActivitiesPath, frame.Parameters{"name": name})
}

// activity has the members of a recorded activity that the page shows.
type activity struct {
	ID         string `json:"activity_id"`
	ContactID  string `json:"contact_id"`
	Name       string `json:"name"`
	OccurredAt string `json:"occurred_at"`
	ReceivedAt string `json:"received_at"`
	Source     string `json:"source"`
	// Properties is kept as it was sent, because the page shows it.
	Properties json.RawMessage `json:"properties"`
}

// activityFilter has the filters of the page, as its address states them. From and To are
// days, both inclusive.
type activityFilter struct{ Name, Contact, From, To string }

// readActivityFilter returns the filters in the query of a request.
func readActivityFilter(query url.Values) activityFilter {
	return activityFilter{query.Get("name"), query.Get("contact"), query.Get("since"), query.Get("until")}
}

// arguments returns the arguments of activities_list. It fails with core.CodeValidationFailed
// for a text that is not a day.
func (f activityFilter) arguments(cursor string) (map[string]any, error) {
	from, to, err := frame.DayRange(f.From, f.To)
	if err != nil {
		return nil, err
	}
	return frame.SetArguments(map[string]any{
		"name": f.Name, "contact": f.Contact, "from": from, "to": to, "limit": frame.PageSize, "cursor": cursor,
	}), nil
}

// activitiesPage is the data of the page that lists activities.
type activitiesPage struct {
	Filter activityFilter
	Rows   []activityRow
	Pager  frame.Pager
	Empty  frame.Empty
	// Chart has the counts of the last days. It is nil on a filtered page, without
	// activities in these days, and if there are too many to count.
	Chart *chart.Panel
}

// activityRow is the data of one activity.
type activityRow struct {
	ID, Name, Source   string
	Contact, Path      string // the contact's address or id, and its page
	Named              string // the list of activities with the same name
	Occurred, Received frame.When
	Data               []node
	// Raw is the JSON of the activity's data as it was sent. More is the number of values
	// that Data omits.
	Raw  string
	More int
}

// showActivities shows the recorded activities, newest first.
func (h activityHandlers) showActivities(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	query := r.URL.Query()
	data := activitiesPage{Filter: readActivityFilter(query)}
	var page frame.List[activity]
	arguments, err := data.Filter.arguments(query.Get(frame.ParamCursor))
	if err == nil {
		err = h.Read(r, v, "activities_list", arguments, &page)
	}
	problem, status := frame.Labels{"from": "The first day", "to": "The last day", "name": "The name", "contact": "The contact"}.FilterProblem(err)
	if err != nil && problem == "" {
		h.Fail(w, r, v, err)
		return
	}
	if data.Rows, err = h.activityRows(r, v, page.Data); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data.Pager = frame.PagerOf(ActivitiesPath, query, len(data.Rows), page.Next(), -1)
	data.Empty = h.emptyActivities(data.Filter)
	if data.Filter == (activityFilter{}) && query.Get(frame.ParamCursor) == "" {
		if data.Chart, err = h.dailyChart(r, v); err != nil {
			h.Fail(w, r, v, err)
			return
		}
	}
	h.Show(w, r, v, status, frame.Screen{Page: "activities", Title: "Activities", Problem: problem, Data: data, Head: frame.Head{
		Title: "Activities", Lead: "What contacts did, newest first.", Actions: []frame.Action{{Path: PropertiesPath, Name: "View properties"}},
	}})
}

// emptyActivities returns the text in place of an empty list.
func (h activityHandlers) emptyActivities(f activityFilter) frame.Empty {
	if f != (activityFilter{}) {
		return frame.Empty{Text: "No activity matches the filter.", Action: &frame.Action{Path: ActivitiesPath, Name: "Clear filter"}}
	}
	return frame.Empty{
		Text:  "An activity is something that a contact did, such as a purchase or a visit. None is recorded.",
		Guide: h.Guide("/guides/activities", "Record activities"),
	}
}

// activityRows returns activities as rows of the list. A visitor who may see contacts gets
// their addresses; others get their ids.
func (h activityHandlers) activityRows(r *http.Request, v people.Visitor, found []activity) ([]activityRow, error) {
	addresses, mayView := map[string]string{}, v.Member.Has(members.MayViewContacts)
	if mayView {
		var ids []string
		for _, a := range found {
			ids = append(ids, a.ContactID)
		}
		var err error
		if addresses, err = h.Activities.ContactAddresses(r.Context(), v.Org.ID, ids); err != nil {
			return nil, err
		}
	}
	var rows []activityRow
	for _, a := range found {
		row := activityRow{
			ID: a.ID, Name: frame.PlainName(a.Name), Source: a.Source, Contact: a.ContactID, Named: activitiesNamed(a.Name),
			Occurred: h.WhenText(a.OccurredAt), Received: h.WhenText(a.ReceivedAt), Raw: string(a.Properties),
		}
		row.Data, row.More = treeOf(row.Raw)
		if mayView {
			row.Path = contactsPath + "/" + url.PathEscape(a.ContactID)
		}
		if address := addresses[a.ContactID]; address != "" {
			row.Contact = frame.PlainName(address)
		}
		rows = append(rows, row)
	}
	return rows, nil
}
