package rest_test

import (
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

func (c contact) listKeys() []string {
	var keys []string
	for _, l := range c.Lists {
		keys = append(keys, l.Key)
	}
	slices.Sort(keys)
	return keys
}

// TestMembershipHasTwoShapes checks that POST and PATCH accept changes of a contact's
// lists, and PUT the complete set of lists. POST and PATCH refuse the complete set, and PUT
// refuses changes. Omitted and null members change nothing.
func TestMembershipHasTwoShapes(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		var lists struct{ Data []struct{ ID, Key string } }
		a.do(t, "GET", "/v1/lists", "").want(200).decode(&lists)
		one, two := lists.Data[0], lists.Data[1]
		const path = "/v1/contacts/shapes%40example.com"
		a.do(t, "POST", "/v1/contacts", `{"email":"shapes@example.com","lists":{"set":["`+one.ID+`"]}}`).want(201)
		for _, step := range []struct {
			method, lists string
			want          []string
		}{
			{"PATCH", `{"add":["` + two.Key + `"]}`, []string{one.Key, two.Key}},
			{"PATCH", `{"remove":["` + one.Key + `"]}`, []string{two.Key}},
			{"PATCH", `null`, []string{two.Key}},
			{"PATCH", `{"set":[]}`, nil},
			{"PUT", `["` + one.Key + `","` + two.ID + `"]`, []string{one.Key, two.Key}},
			{"PUT", `null`, []string{one.Key, two.Key}},
			{"PUT", `["` + two.Key + `"]`, []string{two.Key}},
			{"PUT", `[]`, nil},
		} {
			c := a.do(t, step.method, path, `{"lists":`+step.lists+`}`).want(200).contact()
			slices.Sort(step.want)
			if !slices.Equal(c.listKeys(), step.want) {
				t.Errorf("%s %s: on %v, want %v", step.method, step.lists, c.listKeys(), step.want)
			}
			if read := a.do(t, "GET", path, "").want(200).contact(); !slices.Equal(read.listKeys(), step.want) {
				t.Errorf("%s %s: read back as %v", step.method, step.lists, read.listKeys())
			}
		}
		for _, wrong := range [][2]string{
			{"PATCH", `["` + one.Key + `"]`},
			{"PUT", `{"set":["` + one.Key + `"]}`},
			{"PATCH", `{"set":[],"add":["` + one.Key + `"]}`},
			{"PATCH", `{"set":[],"remove":["` + one.Key + `"]}`},
			{"PATCH", `{"add":["no-such-list"]}`},
			{"PUT", `["` + core.NewID() + `"]`},
		} {
			a.do(t, wrong[0], path, `{"lists":`+wrong[1]+`}`).refused(422, core.CodeValidationFailed)
		}
		theirs := a.as(a.Other.Live.APIKey)
		theirs.do(t, "POST", "/v1/contacts", `{"email":"shapes@example.com","lists":{"add":["`+one.ID+`"]}}`).refused(422, core.CodeValidationFailed)
	})
}
