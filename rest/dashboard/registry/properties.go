package registry

import (
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// propertyNotices are the messages after a change of a promoted property, by name.
var propertyNotices = frame.Notices{
	"created": "The property is promoted. Predicates may test it now.",
	"saved":   "The property is saved.",
	"ended":   "The promotion has ended. Activities keep the property.",
}

// property has the members of a promoted property that the pages show.
type property struct {
	ID          string `json:"id"`
	Activity    string `json:"activity_name"`
	Property    string `json:"property"`
	Type        string `json:"type"`
	Description string `json:"description"`
	Origin      string `json:"origin"`
	UpdatedAt   string `json:"updated_at"`
}

// propertiesPage is the data of the page that lists the promoted properties.
type propertiesPage struct {
	Rows       []propertyRow
	Empty      frame.Empty
	Repository string // why properties are read-only; "" if they are not
}

// propertyRow is the data of a promoted property in the list.
type propertyRow struct {
	Activity, Property, Type, Description string
	Segments                              string // the number of segments that test the property
	Git                                   bool
	Updated                               frame.When
	// Activities is the list of activities with the property's activity name. Edit and End
	// are "" if the visitor may not change the property.
	Activities, Edit, End string
}

// showProperties shows the promoted properties, ordered by activity and property.
func (h propertyHandlers) showProperties(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	all, err := frame.ReadAll[property](h.Frame, r, v, "activity_properties_list")
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	uses, err := h.usesOf(r.Context(), v)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	slices.SortFunc(all, func(a, b property) int {
		return slices.Compare([]string{a.Activity, a.Property}, []string{b.Activity, b.Property})
	})
	data := propertiesPage{Empty: frame.Empty{
		Text:  "A promoted property is a value in the data of activities that segments may test, such as the amount of a purchase. None is promoted.",
		Guide: h.Guide("/guides/activities", "Read the guide about activities"),
	}}
	for _, p := range all {
		data.Rows = append(data.Rows, h.propertyRow(v, p, uses))
	}
	head := frame.Head{Title: "Activity properties", Count: core.WithCommas(len(all)), Lead: "Values in the data of activities that predicates may test."}
	if v.Org.GitConnected {
		data.Repository = repositoryReason
	}
	if mayChange(v) {
		head.Actions = []frame.Action{{Path: PropertiesPath + "/new", Name: "Promote property", Primary: true}}
		data.Empty.Action = &head.Actions[0]
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "properties", Title: "Activity properties", Head: head, Notice: propertyNotices.NoticeOf(r), Data: data})
}

// propertyRow returns a promoted property as a row of the list.
func (h propertyHandlers) propertyRow(v people.Visitor, p property, uses []segments.Use) propertyRow {
	row := propertyRow{
		Activity: frame.PlainName(p.Activity), Property: frame.PlainName(p.Property), Type: p.Type, Description: frame.PlainName(p.Description),
		Git: p.Origin == string(core.GitOrigin), Updated: h.WhenText(p.UpdatedAt), Activities: activitiesNamed(p.Activity),
	}
	tested := 0
	for _, use := range uses {
		if slices.Contains(use.References.Properties, predicate.ActivityProperty{Activity: p.Activity, Property: p.Property}) {
			tested++
		}
	}
	row.Segments = core.WithCommas(tested)
	if mayChange(v) && !row.Git {
		row.Edit, row.End = PropertiesPath+"/"+p.ID+"/edit", PropertiesPath+"/"+p.ID+"/end"
	}
	return row
}

// propertyOf reads the promoted property of the request's path. If it returns false, it has
// written the response.
func (h propertyHandlers) propertyOf(w http.ResponseWriter, r *http.Request, v people.Visitor) (property, bool) {
	var p property
	ok := h.ReadNamed(w, r, v, "activity_properties_get", &p)
	return p, ok
}
