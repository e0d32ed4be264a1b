package tools_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/catalogue"
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
		for range 3 { // the order is always the same
			if got := names(w.send(rpc(legacy, "tools/list", nil).as(token)).result(t).Result.Tools); !cmp.Equal(got, want) {
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

// Every tool of the product stands here: the protocol's defaults are for none.
func TestEveryHintIsExplicit(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, catalogue.Operations(catalogue.Domains{}))
	hints := func(reads, destroys, idempotent, open bool) map[string]any {
		return map[string]any{"readOnlyHint": reads, "destructiveHint": destroys, "idempotentHint": idempotent, "openWorldHint": open}
	}
	want := map[string]map[string]any{
		"contacts_upsert":              hints(false, false, true, false),
		"contacts_archive":             hints(false, true, true, false),
		"contacts_set_list_membership": hints(false, false, true, false),
		"activities_record":            hints(false, false, true, false),
	}
	for _, name := range []string{
		"sending_readiness_check", "suppressions_check_address", "suppressions_list", "undeliverable_list", "reports_get_sending_health",
		"messages_search", "messages_diagnose", "contacts_lookup", "lists_list", "segments_list", "segments_preview_predicate", "audience_get_schema", "templates_list",
	} {
		want[name] = hints(true, false, false, false)
	}
	got := map[string]map[string]any{}
	for _, tool := range w.send(rpc(legacy, "tools/list", nil)).result(t).Result.Tools {
		got[tool["name"].(string)], _ = tool["annotations"].(map[string]any)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hints (-want +got):\n%s", diff)
	}
}

// The product has no tool yet that asks first and reaches people; a probe does.
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
