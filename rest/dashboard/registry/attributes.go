package registry

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// attributeNotices are the messages after a change of an attribute, by name.
var attributeNotices = frame.Notices{
	"created": "The attribute is registered. Contacts may have values of it now.",
	"saved":   "The attribute is saved. Stored contacts are converted in the background.",
	"deleted": "The attribute is deleted. Its values stay stored and return if the name is registered again.",
}

// attribute has the members of a registered attribute that the pages show.
type attribute struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	EnumValues  []string `json:"enum_values"`
	Description string   `json:"description"`
	Origin      string   `json:"origin"`
	CreatedAt   string   `json:"created_at"`
	UpdatedAt   string   `json:"updated_at"`
}

// attributesPage is the data of the page that lists the attributes.
type attributesPage struct {
	Query      string
	Rows       []attributeRow
	Empty      frame.Empty
	Progress   *progress
	Repository string // why attributes are read-only; "" if they are not
}

// progress is the progress of the job that converts stored contacts.
type progress struct {
	Converted, Contacts         int
	ConvertedText, ContactsText string
}

// attributeRow is the data of an attribute in the list.
type attributeRow struct {
	Path, Name, Type, Description string
	Values                        string // the first values of an enum
	Segments                      string // the number of segments that test the attribute
	Git                           bool
	Updated                       frame.When
}

// shownValues is the number of enum values that a row of the list shows.
const shownValues = 6

// showAttributes shows the registered attributes by name, with the segments that test them.
func (h attributeHandlers) showAttributes(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	all, err := frame.ReadAll[attribute](h.Frame, r, v, "attributes_list")
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	uses, err := h.usesOf(r.Context(), v)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := attributesPage{Query: r.URL.Query().Get("q")}
	if data.Progress, err = h.progressOf(r, v); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	slices.SortFunc(all, func(a, b attribute) int { return strings.Compare(a.Name, b.Name) })
	for _, a := range all {
		if data.Query == "" || strings.Contains(strings.ToLower(a.Name+" "+a.Description), strings.ToLower(data.Query)) {
			data.Rows = append(data.Rows, h.attributeRow(a, uses))
		}
	}
	head := frame.Head{Title: "Attributes", Count: core.WithCommas(len(all)), Lead: "The names and types of the values that contacts may have. Predicates write them as attr.name."}
	data.Empty = frame.Empty{Text: "No attribute matches the filter."}
	if len(all) == 0 {
		data.Empty.Text = "An attribute is a value that contacts may have, such as a city or a plan. None is registered."
		data.Empty.Guide = h.Guide("/guides/attributes", "Read the guide about attributes")
	}
	if v.Org.GitConnected {
		data.Repository = repositoryReason
	}
	if mayChange(v) {
		head.Actions = []frame.Action{{Path: AttributesPath + "/new", Name: "New attribute", Primary: true}}
		if len(all) == 0 {
			data.Empty.Action = &head.Actions[0]
		}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "attributes", Title: "Attributes", Head: head, Notice: attributeNotices.NoticeOf(r), Data: data})
}

// attributeRow returns an attribute as a row of the list.
func (h attributeHandlers) attributeRow(a attribute, uses []segments.Use) attributeRow {
	values := frame.PlainName(strings.Join(a.EnumValues[:min(shownValues, len(a.EnumValues))], ", "))
	if more := len(a.EnumValues) - shownValues; more > 0 {
		values += ", and " + core.WithCommas(more) + " more"
	}
	return attributeRow{
		Path: AttributesPath + "/" + a.ID, Name: frame.PlainName(a.Name), Type: a.Type, Description: frame.PlainName(a.Description), Values: values,
		Segments: core.WithCommas(len(testing(uses, a.Name))), Git: a.Origin == string(core.GitOrigin), Updated: h.WhenText(a.UpdatedAt),
	}
}

// testing returns the segments that test the attribute with this name.
func testing(uses []segments.Use, name string) []segments.Use {
	var found []segments.Use
	for _, use := range uses {
		if slices.Contains(use.References.Attributes, name) {
			found = append(found, use)
		}
	}
	return found
}

// progressOf returns the progress of the job that converts stored contacts, or nil if no
// contacts are left to convert.
func (h attributeHandlers) progressOf(r *http.Request, v people.Visitor) (*progress, error) {
	p, err := frame.ReadExpensive(h.Frame, r, v, func(ctx context.Context) (attributes.Progress, error) {
		return h.Attributes.PassProgress(ctx, v.Org.ID)
	})
	if err != nil || !p.Due {
		return nil, err
	}
	return &progress{p.Converted, p.Contacts, core.WithCommas(p.Converted), core.WithCommas(p.Contacts)}, nil
}

// attributePage is the data of the page of one attribute.
type attributePage struct {
	ID, Name, Type, Description string
	Values                      []string
	Git                         bool
	Created, Updated            frame.When
	Segments                    []segmentLink
	// MayView is true if the visitor may see the segments that test the attribute. Otherwise
	// the page has only their number.
	MayView  bool
	Progress *progress
	Reason   string // why the attribute is read-only; "" if it is not
}

// segmentLink is a segment with its page.
type segmentLink struct{ Path, Name string }

// showAttribute shows one attribute and the segments that test it.
func (h attributeHandlers) showAttribute(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	a, ok := h.attributeOf(w, r, v)
	if !ok {
		return
	}
	uses, err := h.usesOf(r.Context(), v)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := attributePage{
		ID: a.ID, Name: frame.PlainName(a.Name), Type: a.Type, Description: frame.PlainName(a.Description), Git: a.Origin == string(core.GitOrigin),
		Created: h.WhenText(a.CreatedAt), Updated: h.WhenText(a.UpdatedAt), MayView: v.Member.Has(members.MayViewSegments),
	}
	for _, value := range a.EnumValues {
		data.Values = append(data.Values, frame.PlainName(value))
	}
	for _, use := range testing(uses, a.Name) {
		data.Segments = append(data.Segments, segmentLink{segmentsPath + "/" + url.PathEscape(use.ID), use.Name})
	}
	if data.Progress, err = h.progressOf(r, v); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	head := frame.Head{Title: data.Name}
	switch {
	case v.Org.GitConnected, data.Git:
		data.Reason = repositoryReason
	case mayChange(v):
		here := AttributesPath + "/" + a.ID
		head.Actions = []frame.Action{{Path: here + "/edit", Name: "Edit attribute", Primary: true}, {Path: here + "/delete", Name: "Delete attribute", Danger: true}}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "attribute", Title: data.Name, Head: head, Notice: attributeNotices.NoticeOf(r), Data: data})
}

// attributeOf reads the attribute of the request's path. If it returns false, it has
// written the response.
func (h attributeHandlers) attributeOf(w http.ResponseWriter, r *http.Request, v people.Visitor) (attribute, bool) {
	var a attribute
	ok := h.ReadNamed(w, r, v, "attributes_get", &a)
	return a, ok
}
