package attributes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
)

func TestSchemaForAnAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Surface = core.Agent
	got := w.Want(t, "audience_get_schema", ``)
	var names []any
	for _, a := range got["attributes"].([]any) {
		names = append(names, a.(map[string]any)["name"])
	}
	if diff := cmp.Diff([]any{"age", "city", "plan"}, names); diff != "" || len(got["topics"].([]any)) != 2 || got["git_connected"] != false {
		t.Errorf("%s %v", diff, got)
	}
}

func TestAttributesNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.Want(t, "attributes_list", `{"limit":2}`)
	if diff := cmp.Diff([]string{"city", "age"}, attributeNames(first)); diff != "" {
		t.Error(diff)
	}
	cursor := first["pagination"].(map[string]any)["next_cursor"].(string)
	if diff := cmp.Diff([]string{"plan"}, attributeNames(w.Want(t, "attributes_list", `{"limit":2,"cursor":"`+cursor+`"}`))); diff != "" {
		t.Error(diff)
	}
}

func attributeNames(page map[string]any) []string {
	var names []string
	for _, a := range page["data"].([]any) {
		names = append(names, a.(map[string]any)["name"].(string))
	}
	return names
}
