package templates

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// The query parameters of a preview. paramEmail is the address of a contact, on pages.
// paramContact is the contact's id, on the page in the frame.
const (
	paramSet        = "set"
	paramData       = "data"
	paramEmail      = "email"
	paramContact    = "contact"
	paramWidth      = "width"
	paramBackground = "background"
)

// The values of paramWidth and paramBackground. "" is the width of a desktop, and the light
// background.
const (
	phone = "phone"
	dark  = "dark"
)

// maxData is the maximum length of the values in the address of a preview, in bytes. Longer
// values belong into the test data.
const maxData = 2_000

// panel is the data of the template "preview": a mail as one recipient would get it, with a
// form to choose the recipient's data.
type panel struct {
	Page string // the path of the page with the preview
	Name string // the name of the template
	// Frame is the address of the page with the rendered HTML, "" if there is none.
	Frame         string
	Subject, Text string
	// DerivedText is true if the text comes from the HTML.
	DerivedText bool
	Missing     []string
	// Problem says why the mail cannot be rendered, or is "".
	Problem string
	// Raw is true if the frame shows the HTML with its tags, because it has faults.
	Raw  bool
	Data previewData
	// Widths and Backgrounds are links to the same preview in other forms.
	Widths, Backgrounds []choice
	IsPhone, IsDark     bool
}

// previewData are the fields of a form with the data of a preview.
type previewData struct {
	Sets          []frame.Option
	Values, Email string
	// MayContact is true if the visitor may see contacts.
	MayContact bool
}

// choice is a link to the same preview in another form.
type choice struct {
	Path, Name string
	Chosen     bool
}

// panelOf returns the preview of a template with the data that the address names.
func (h *Templates) panelOf(r *http.Request, v people.Visitor, t template) (panel, error) {
	query := r.URL.Query()
	parameters := frame.Parameters{}
	for _, name := range []string{paramSet, paramData, paramEmail, paramWidth, paramBackground} {
		parameters[name] = query.Get(name)
	}
	d, err := t.draft()
	if err != nil {
		return panel{}, err
	}
	if !query.Has(paramSet) {
		parameters[paramSet] = firstSet(d.TestData)
	}
	page := pathOf(t.Slug)
	p := panel{
		Page: page, Name: frame.PlainName(t.Name), IsPhone: parameters[paramWidth] == phone, IsDark: parameters[paramBackground] == dark,
		Widths:      choices(page, parameters, paramWidth, choice{Path: "", Name: "Desktop"}, choice{Path: phone, Name: "Phone"}),
		Backgrounds: choices(page, parameters, paramBackground, choice{Path: "", Name: "Light"}, choice{Path: dark, Name: "Dark"}),
	}
	p.Data = previewData{
		Sets: setOptions(d.TestData, parameters[paramSet]), Values: parameters[paramData], Email: parameters[paramEmail], MayContact: v.Member.Has(members.MayViewContacts),
	}
	inFrame := pathOf(t.Slug, "preview")
	if t.isFaulty() {
		p.Raw = true
		if t.HTML != "" {
			p.Frame = frame.Address(inFrame, frame.Parameters{paramBackground: parameters[paramBackground]})
		}
		return p, nil
	}
	with, err := h.previewData(r, v, parameters)
	if err == nil {
		err = h.fill(r, v, &p, d, with)
	}
	if p.Problem = problemOf(err); err != nil && p.Problem == "" {
		return p, err
	}
	if err == nil && t.HTML != "" {
		p.Frame = frame.Address(inFrame, frame.Parameters{
			paramSet: with.Profile, paramData: parameters[paramData], paramContact: with.ContactID, paramBackground: parameters[paramBackground],
		})
	}
	return p, nil
}

// fill renders the draft into the panel.
func (h *Templates) fill(r *http.Request, v people.Visitor, p *panel, d stored.Draft, with stored.PreviewData) error {
	rendered, err := h.Stored.Preview(r.Context(), v.Org.ID, d, with)
	if err != nil {
		return err
	}
	p.Subject, p.Text, p.DerivedText = frame.PlainName(rendered.Subject), rendered.Text, rendered.DerivedText
	for _, name := range rendered.Missing {
		p.Missing = append(p.Missing, frame.PlainName(name))
	}
	return nil
}

// previewData returns the data that the parameters name. It looks the contact up as the
// visitor, so that the permission is checked.
func (h *Templates) previewData(r *http.Request, v people.Visitor, parameters frame.Parameters) (stored.PreviewData, error) {
	with := stored.PreviewData{Profile: parameters[paramSet]}
	var err error
	if with.Values, err = parseObject(parameters[paramData]); err != nil {
		return with, err
	}
	email := strings.TrimSpace(parameters[paramEmail])
	if email == "" {
		return with, nil
	}
	var contact struct {
		ID string `json:"id"`
	}
	err = h.Read(r, v, "contacts_lookup", map[string]string{"email": email}, &contact)
	if core.IsNotFound(err) {
		return with, core.Invalid(paramEmail, "is the address of no contact")
	}
	with.ContactID = contact.ID
	return with, err
}

// previewLabels are the names of the fields of a preview in refusals.
var previewLabels = frame.Labels{
	"profile": "The set", paramData: "The data", paramEmail: "The address", "testdata": "The test data", "html": "The HTML", "slug": "The template",
}

// problemOf returns what a page says about data that cannot be rendered. It returns "" for nil
// and for errors that have a page of their own.
func problemOf(err error) string {
	if err == nil {
		return ""
	}
	switch e := core.AsError(err); e.Code {
	case core.CodeValidationFailed:
		return previewLabels.Problem(e)
	case core.CodeUpstreamUnavailable:
		return frame.TextOf(e)
	}
	return ""
}

// firstSet returns the name of the first set of test data, which previews use unless the
// visitor chooses another one. It returns "" if there is none.
func firstSet(testData map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(testData)) {
		return name
	}
	return ""
}

// choices returns links that set one parameter of an address. The Path of each given choice
// is the value of the parameter. The links always state the set: without it, a page uses the
// first one.
func choices(page string, all frame.Parameters, name string, values ...choice) []choice {
	links := make([]choice, len(values))
	for i, value := range values {
		parameters := maps.Clone(all)
		parameters[name] = value.Path
		values := parameters.Values()
		values.Set(paramSet, parameters[paramSet])
		links[i] = choice{Path: page + "?" + values.Encode() + "#preview", Name: value.Name, Chosen: all[name] == value.Path}
	}
	return links
}

// setOptions returns the sets of test data as options.
func setOptions(testData map[string]any, chosen string) []frame.Option {
	options := []frame.Option{{Value: "", Name: "None"}}
	for _, name := range slices.Sorted(maps.Keys(testData)) {
		options = append(options, frame.Option{Value: name, Name: frame.PlainName(name)})
	}
	return frame.ChooseOption(options, chosen)
}

// parseObject parses a JSON object in the address of a preview. It returns nil for "".
func parseObject(text string) (map[string]any, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if len(text) > maxData {
		return nil, core.Invalid(paramData, fmt.Sprintf("has %d bytes; at most %d are allowed here, so write them into the test data", len(text), maxData))
	}
	var values map[string]any
	if f := decodeObject(text, &values); f != nil {
		return nil, core.Invalid(paramData, fmt.Sprintf("is not a JSON object (line %d, column %d); write it as {\"first_name\": \"Ada\"}", f.Line, f.Column))
	}
	return values, nil
}

// decodeObject decodes a JSON object. It returns nil, or the place and the reason of a fault.
func decodeObject(text string, into *map[string]any) *stored.Fault {
	err := json.Unmarshal([]byte(text), into)
	if err == nil && *into == nil { // the text is null
		err = errors.New("it is null")
	}
	if err == nil {
		return nil
	}
	at := 0
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = max(0, min(len(text), int(syntax.Offset))-1)
	}
	before := text[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	return &stored.Fault{
		Part: "testdata", Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[start:]) + 1,
		Message: "is not a JSON object of sets, such as {\"vip\": {\"first_name\": \"Ada\"}}: " + reasonOf(err),
	}
}

// reasonOf returns the reason of an error of encoding/json in words.
func reasonOf(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return "it is of the type " + kind.Value
	}
	return err.Error()
}
