package predicate_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/predicate"
)

var update = flag.Bool("update", false, "write the golden files anew")

// now is the time at which predicates are evaluated.
var now = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// schema has at least one attribute and one property of each type.
var schema = predicate.Schema{
	Attributes: map[string]predicate.AttributeType{
		"plan": {Type: predicate.Enum, EnumValues: []string{"free", "pro", "team"}}, "city": {Type: predicate.String},
		"mrr": {Type: predicate.Number}, "vip": {Type: predicate.Bool}, "joined": {Type: predicate.Datetime},
		"count": {Type: predicate.Number},
	},
	Properties: map[predicate.ActivityProperty]predicate.Type{
		{Activity: "purchase", Property: "amount"}: predicate.Number, {Activity: "purchase", Property: "sku"}: predicate.String,
		{Activity: "purchase", Property: "gift"}: predicate.Bool, {Activity: "purchase", Property: "due"}: predicate.Datetime,
		{Activity: "purchase", Property: "count"}: predicate.Number, {Activity: "Order paid", Property: "Order id"}: predicate.String,
		{Activity: "site_visit", Property: "scroll"}: predicate.Number,
	},
	Topics:     map[string]bool{"news": true, "offers": false},
	Lists:      map[string]string{"vip": "list-1", "beta": "list-2"},
	Segments:   map[string]string{"engaged": "segment-1"},
	Activities: []string{"purchase", "Order paid", "site_visit"},
}

func compile(t testing.TB, source string) *predicate.Checked {
	t.Helper()
	checked, err := predicate.Compile(source, schema)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return checked
}

// compareGolden compares got with the golden file of this name in testdata. With the flag
// -update, it writes the file instead.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := goldentest.Write(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from the golden file; -update writes it anew. Got:\n%s", name, got)
	}
}
