package reference

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest/docs/article"
)

// maxDepth is the number of levels of members that a table lists.
const maxDepth = 5

// parse returns a schema of an operation. Schemas are generated, so they can be parsed.
func parse(schema *core.Schema) (node, error) {
	var n node
	err := json.Unmarshal(schema.Text(), &n)
	return n, err
}

// memberTable returns a table of the members of an object, those of nested objects after
// their object. marks says whether a member is required. It returns "" for no members.
func memberTable(members properties, required func(string) bool) string {
	if len(members) == 0 {
		return ""
	}
	t := newTable("Member", "Type", "Description")
	for _, m := range members {
		kind := m.node.kind()
		if required(m.name) {
			kind += ", required"
		}
		t.row("`"+m.name+"`", kind, m.node.describe())
		t.nested(m.name, m.node, 1)
	}
	return t.String()
}

// nested adds the members of an object, or of the objects in an array, below their path.
func (t *table) nested(path string, n node, depth int) {
	if depth == maxDepth {
		return
	}
	for _, one := range append([]node{n}, n.alternatives()...) {
		below := path
		if one.Items != nil {
			one, below = *one.Items, path+"[]"
		}
		var values node
		if len(one.Values) > 0 && json.Unmarshal(one.Values, &values) == nil && len(values.Properties) > 0 {
			one, below = values, below+".*"
		}
		for _, member := range one.objects() {
			kind := member.node.kind()
			t.row("`"+below+"."+member.name+"`", kind, member.node.describe())
			t.nested(below+"."+member.name, member.node, depth+1)
		}
	}
}

// objects returns the members of the object, or those of its alternatives that are objects.
func (n node) objects() properties {
	members := slices.Clone(n.Properties)
	for _, one := range n.alternatives() {
		for _, member := range one.Properties {
			if !slices.ContainsFunc(members, func(p property) bool { return p.name == member.name }) {
				members = append(members, member)
			}
		}
	}
	return members
}

// describe returns the description of a member with its limits, as Markdown.
func (n node) describe() string {
	parts := n.limits()
	if n.Description != "" {
		parts = append([]string{article.Escape(strings.TrimSpace(n.Description))}, parts...)
	}
	if n.Items != nil {
		parts = append(parts, n.Items.limits()...)
	}
	return strings.Join(parts, " ")
}
