package registry_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/registry"
)

const (
	planPath = registry.AttributesPath + "/" + planID
	paidPath = registry.PropertiesPath + "/" + propertyID
)

// planForm returns the form that changes the attribute plan.
func planForm(step string) url.Values {
	return url.Values{"once": {core.NewID()}, "step": {step}, "name": {"tariff"}, "type": {"enum"}, "enum_values": {"free\r\n\r\npro plus\r\n" + hostile}, "description": {hostile}}
}

// propertyForm returns the form that changes the promoted property.
func propertyForm(step string) url.Values {
	return url.Values{"once": {core.NewID()}, "step": {step}, "activity_name": {hostile}, "property": {"amount"}, "type": {"number"}, "description": {"New"}}
}

func TestGoldenDefinitions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	shown := func(name, path string) {
		t.Helper()
		_, page := frametest.Get(t, o.pages, path)
		frametest.CompareGolden(t, name, page, *update)
	}
	posted := func(name, path string, form url.Values) {
		t.Helper()
		_, page := frametest.Post(t, o.pages, o.Site.Visitor, path, form)
		frametest.CompareGolden(t, name, page, *update)
	}
	for name, path := range map[string]string{
		"attributes": registry.AttributesPath, "attributes_none_match": registry.AttributesPath + "?q=" + url.QueryEscape(hostile),
		"attribute": planPath, "attribute_new": registry.AttributesPath + "/new", "attribute_edit": planPath + "/edit", "attribute_delete": planPath + "/delete",
		"properties": registry.PropertiesPath, "property_new": registry.PropertiesPath + "/new?activity=purchase&property=" + url.QueryEscape(hostile),
		"property_edit": paidPath + "/edit", "property_end": paidPath + "/end",
	} {
		shown(name, path)
	}
	posted("attribute_review", planPath+"/edit", planForm("review"))
	posted("attribute_again", planPath+"/edit", planForm("edit"))
	posted("property_review", paidPath+"/edit", propertyForm("review"))
	refused := planForm("review")
	refused.Set("name", "Not allowed")
	posted("attribute_refused", planPath+"/edit", refused)
	o.progress = attributes.Progress{Due: true, Converted: 1500, Contacts: 12000}
	shown("attributes_converting", registry.AttributesPath)
	o.operations.Results["attributes_list"] = `{"data":[],"pagination":{"has_more":false,"next_cursor":null}}`
	o.operations.Results["activity_properties_list"] = `{"data":[],"pagination":{"has_more":false,"next_cursor":null}}`
	o.progress = attributes.Progress{}
	shown("attributes_none", registry.AttributesPath)
	shown("properties_none", registry.PropertiesPath)
	o.Allow(members.MayViewContacts)
	shown("attribute_of_member", planPath)
	o.Site.Visitor.Org.GitConnected = true
	shown("attribute_of_repository", planPath)
}

// TestChangesOfDefinitions checks the calls of operations that the forms make, and where
// the visitor is redirected.
func TestChangesOfDefinitions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, tc := range []struct{ path, step, location, call, arguments string }{
		{registry.AttributesPath + "/new", "", planPath + "?done=created", "attributes_create", `{"name":"tariff","type":"enum","enum_values":["free","pro plus",HOSTILE],"description":HOSTILE}`},
		{planPath + "/edit", "save", planPath + "?done=saved", "attributes_update", `{"id":"` + planID + `","name":"tariff","type":"enum","enum_values":["free","pro plus",HOSTILE],"description":HOSTILE}`},
		{planPath + "/delete", "", registry.AttributesPath + "?done=deleted", "attributes_delete", `{"id":"` + planID + `"}`},
		{registry.PropertiesPath + "/new", "", registry.PropertiesPath + "?done=created", "activity_properties_create", `{"activity_name":HOSTILE,"property":"amount","type":"number","description":"New"}`},
		{paidPath + "/edit", "save", registry.PropertiesPath + "?done=saved", "activity_properties_replace", `{"id":"` + propertyID + `","activity_name":HOSTILE,"property":"amount","type":"number","description":"New"}`},
		{paidPath + "/end", "", registry.PropertiesPath + "?done=ended", "activity_properties_delete", `{"id":"` + propertyID + `"}`},
	} {
		form := planForm(tc.step)
		if strings.HasPrefix(tc.path, registry.PropertiesPath) {
			form = propertyForm(tc.step)
		}
		o.review(tc.path, form)
		o.operations.Calls()
		if location := o.send(tc.path, form); location != tc.location {
			t.Errorf("%s redirects to %s, want %s", tc.path, location, tc.location)
		}
		calls := o.operations.Calls()
		written := calls[len(calls)-1]
		want := frametest.CalledOperation{Name: tc.call, Arguments: strings.ReplaceAll(tc.arguments, "HOSTILE", marshal(t, hostile)), Once: form.Get("once")}
		if diff := cmp.Diff(want, written); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.path, diff)
		}
		form.Del("once")
		if tc.step == "save" || tc.step == "" {
			if status, page := frametest.Post(t, o.pages, o.Site.Visitor, tc.path, form); status != http.StatusUnprocessableEntity {
				t.Errorf("%s without an id: %d %s", tc.path, status, page)
			}
		}
	}
}

var reviewedField = regexp.MustCompile(`name="reviewed" value="([^"]+)"`)

// review opens the page that shows the effects of a change, and copies its field "reviewed"
// to the form. It does nothing for forms that create a definition.
func (o *office) review(path string, form url.Values) {
	o.T.Helper()
	var page string
	switch {
	case strings.HasSuffix(path, "/new"):
		return
	case strings.HasSuffix(path, "/edit"):
		first := maps.Clone(form)
		first.Set("step", "review")
		_, page = frametest.Post(o.T, o.pages, o.Site.Visitor, path, first)
	default:
		_, page = frametest.Get(o.T, o.pages, path)
	}
	found := reviewedField.FindStringSubmatch(page)
	if found == nil {
		o.T.Fatalf("%s shows no effects: %s", path, page)
	}
	form.Set("reviewed", found[1])
}

// TestEffectsThatChangeAreShownAgain checks that a change is not saved, and a definition not
// deleted, with other effects than those that the person reviewed.
func TestEffectsThatChangeAreShownAgain(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for path, form := range map[string]url.Values{
		planPath + "/edit": planForm("save"), paidPath + "/edit": propertyForm("save"), planPath + "/delete": {"once": {core.NewID()}}, paidPath + "/end": {"once": {core.NewID()}},
	} {
		o.review(path, form)
		for name, reviewed := range map[string]string{"other effects": strings.Repeat("A", 43), "none": ""} {
			form.Set("reviewed", reviewed)
			o.operations.Calls()
			status, page := frametest.Post(t, o.pages, o.Site.Visitor, path, form)
			if status != http.StatusOK || !reviewedField.MatchString(page) || (reviewed != "" && !strings.Contains(page, "Nothing was changed.")) {
				t.Errorf("%s with %s: %d %s", path, name, status, page)
			}
			for _, call := range o.operations.Calls() {
				if call.Once != "" {
					t.Errorf("%s with %s calls %s", path, name, call.Name)
				}
			}
		}
	}
}

// TestFormSentTwice checks that a form that is sent again after its change was saved is
// answered as the first time.
func TestFormSentTwice(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	form := planForm("save")
	o.review(planPath+"/edit", form)
	o.send(planPath+"/edit", form)
	saved := `"name":"tariff","type":"enum","enum_values":["free","pro plus",` + marshal(t, hostile) + `],"description":` + marshal(t, hostile)
	o.operations.Results["attributes_get"] = `{"id":"` + planID + `",` + saved + `,"origin":"managed",` + times + `}`
	if location := o.send(planPath+"/edit", form); location != planPath+"?done=saved" {
		t.Errorf("the second time the form leads to %q", location)
	}
}

// TestEnumValuesWithLineBreaks checks that a form, which has one value on each line, keeps
// values that contain line breaks.
func TestEnumValuesWithLineBreaks(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.operations.Results["attributes_get"] = strings.Replace(`{`+plan+`}`, `"free"`, `"a\nb"`, 1)
	if _, page := frametest.Get(t, o.pages, planPath+"/edit"); strings.Contains(page, `name="enum_values"`) || !strings.Contains(page, "line break") {
		t.Errorf("the form has values:\n%s", page)
	}
	form := planForm("save")
	o.review(planPath+"/edit", form)
	o.send(planPath+"/edit", form)
	calls := o.operations.Calls()
	if got := calls[len(calls)-1].Arguments; !strings.Contains(got, `"enum_values":["a\nb",`+marshal(t, hostile)+`,"pro"]`) {
		t.Errorf("saved %s", got)
	}
}

// TestPermissionsOfDefinitions checks which members may open the pages and send the forms,
// and that no member may do so while a repository owns the definitions.
func TestPermissionsOfDefinitions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	changing := []string{registry.AttributesPath + "/new", planPath + "/edit", planPath + "/delete", registry.PropertiesPath + "/new", paidPath + "/edit", paidPath + "/end"}
	want := func(path string, status int) {
		t.Helper()
		if got, page := frametest.Get(t, o.pages, path); got != status {
			t.Errorf("%s: %d, want %d: %s", path, got, status, page)
		}
	}
	o.Allow(members.MayViewContacts)
	want(registry.AttributesPath, http.StatusOK)
	want(registry.PropertiesPath, http.StatusForbidden)
	o.Allow(members.MayViewActivities)
	want(registry.AttributesPath, http.StatusForbidden)
	want(registry.PropertiesPath, http.StatusOK)
	for _, path := range changing {
		want(path, http.StatusForbidden)
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, path, planForm("save")); status != http.StatusForbidden {
			t.Errorf("POST %s: %d", path, status)
		}
	}
	o.Allow(members.MayViewContacts, members.MayViewActivities, members.MayManageAttributes)
	for _, path := range changing {
		want(path, http.StatusOK)
	}
	o.Site.Visitor.Org.GitConnected = true
	for _, path := range changing {
		want(path, http.StatusConflict)
	}
	want(registry.AttributesPath+"/other", http.StatusNotFound)
	for _, asked := range o.asked {
		if !strings.Contains(asked, o.Org.ID) {
			t.Errorf("asked for another organization: %s", asked)
		}
	}
}
