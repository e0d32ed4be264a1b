package simulation_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/examples"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

var update = flag.Bool("update", false, "write the golden files anew")

const day = 24 * time.Hour

// noon is the time at which simulations of the tests begin, a Monday.
var noon = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

// compile returns the plan of a source that uses the names of the examples.
func compile(t testing.TB, source string) *engine.Plan {
	t.Helper()
	checked, err := language.Compile(source, examples.Schema())
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	return engine.Compile(checked)
}

// workflow returns a source with these settings and steps after a trigger.
func workflow(statements string) string {
	return "workflow \"W\" v1 {\nenter on activity.signup\n" + statements + "\n}\n"
}

// example returns the plan of an example.
func example(t testing.TB, key string) *engine.Plan {
	t.Helper()
	for _, e := range examples.All() {
		if e.Key == key {
			return compile(t, e.Source)
		}
	}
	t.Fatalf("there is no example %s", key)
	return nil
}

func date(at time.Time) predicate.Value {
	return predicate.Value{Type: predicate.Datetime, Moment: predicate.Moment{Micros: at.UnixMicro()}}
}

func activity(name string, at time.Time) predicate.Occurrence {
	return predicate.Occurrence{Event: predicate.Event{Kind: predicate.ActivityEvent, Activity: name}, At: at.UnixMicro()}
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
