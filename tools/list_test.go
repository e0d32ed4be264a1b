package tools_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/tools"
)

func names(listed []map[string]any) []string {
	var got []string
	for _, tool := range listed {
		got = append(got, tool["name"].(string))
	}
	return got
}

func TestListHasWhatTheCallerMayCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for token, want := range map[string][]string{
		"live":   {"audience_get_schema", "broadcasts_send", "contacts_archive", "contacts_lookup", "contacts_set_list_membership", "contacts_upsert"},
		"test":   {"audience_get_schema", "contacts_lookup", "contacts_set_list_membership", "contacts_upsert"},
		"reader": {"contacts_lookup"},
	} {
		for range 3 { // repeated, because the order must always be the same
			if got := names(w.send(rpc(legacy, "tools/list", nil).withToken(token)).result(t).Result.Tools); !cmp.Equal(got, want) {
				t.Errorf("%s: %v, want %v", token, got, want)
			}
		}
	}
}

func TestListIsPrivateToTheCaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.send(rpc(modern, "tools/list", nil)).result(t).Result
	if got.CacheScope != "private" || got.TTL != 60_000 {
		t.Errorf("cacheScope %q, ttlMs %d", got.CacheScope, got.TTL)
	}
	if !cmp.Equal(got.Meta["io.modelcontextprotocol/serverInfo"], any(map[string]any{"name": "mailhelm", "version": "1.2.3"})) {
		t.Errorf("serverInfo %v", got.Meta)
	}
}

// hintsOf returns the MCP hints (annotations) that the tool of an operation must have.
func hintsOf(info core.OperationInfo) map[string]any {
	return map[string]any{
		"readOnlyHint": info.Effect == core.Reads, "destructiveHint": info.Effect == core.Destroys || info.Confirms,
		"idempotentHint": info.Effect != core.Reads, "openWorldHint": info.ReachesPeople,
	}
}

// TestEveryHintIsExplicit checks that every tool of the product has all four MCP hints,
// because the protocol's defaults do not fit any tool. testdata/tools has their values.
func TestEveryHintIsExplicit(t *testing.T) {
	t.Parallel()
	operations := catalogue.Operations(catalogue.Domains{})
	w := newWorldOf(t, operations)
	want, got := map[string]map[string]any{}, map[string]map[string]any{}
	for _, op := range operations {
		if name := op.Info().Name; slices.Contains(tools.Table(), name) {
			want[name] = hintsOf(op.Info())
		}
	}
	for _, tool := range w.send(rpc(legacy, "tools/list", nil)).result(t).Result.Tools {
		got[tool["name"].(string)], _ = tool["annotations"].(map[string]any)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hints (-want +got):\n%s", diff)
	}
}

// TestHintsOfAToolThatReachesPeople checks the hints of a test tool that needs confirmation
// and reaches people. The product has no such tool yet.
func TestHintsOfAToolThatReachesPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := map[string]any{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": true, "openWorldHint": true}
	for _, tool := range w.send(rpc(legacy, "tools/list", nil)).result(t).Result.Tools {
		if tool["name"] == "broadcasts_send" && !cmp.Equal(tool["annotations"], any(want)) {
			t.Errorf("%v", tool["annotations"])
		}
	}
}

func TestOnlyToolsThatConfirmTakeATokenForIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tool := range w.send(rpc(legacy, "tools/list", nil)).result(t).Result.Tools {
		schema := tool["inputSchema"].(map[string]any)
		_, takes := schema["properties"].(map[string]any)["confirmation_token"]
		if takes != (tool["name"] == "broadcasts_send") || schema["additionalProperties"] != false {
			t.Errorf("%s: %v", tool["name"], schema)
		}
	}
}
