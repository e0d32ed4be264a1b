package language_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

var update = flag.Bool("update", false, "write the golden files anew")

// schema has the names that the sources of the tests use.
var schema = language.Schema{
	Schema: predicate.Schema{
		Attributes: map[string]predicate.AttributeType{
			"plan": {Type: predicate.Enum, EnumValues: []string{"free", "pro"}}, "city": {Type: predicate.String},
			"visits": {Type: predicate.Number}, "vip": {Type: predicate.Bool}, "renewal": {Type: predicate.Datetime},
		},
		Topics:   map[string]bool{"news": true, "special offers": false},
		Lists:    map[string]string{"vip": "list-1"},
		Segments: map[string]string{"new-customers": "segment-1"},
		Archived: map[predicate.Archived]bool{{Kind: predicate.SegmentSet, Key: "old"}: true},
	},
	Templates: map[string]bool{"welcome": true, "tips": true, "unfinished": false},
}

// everything has every setting and every step.
const everything = `workflow "Welcome" v1 {
  enter on segment "new-customers" where attr.city = "Lyon"
  exit "bought" when exists(activity.purchase within 7d)
  exit "left" when unsubscribed from all or suppressed
  send window 9am-5:30pm in contact timezone
  reentry on rematch
  frequency cap 3 per 1 week
  enroll existing since 30 days

  send "welcome" via topic "news"
  wait 3 days
  wait until 2026-12-24
  wait until attr.renewal
  wait up to 2 weeks until count(open) > 0 {
    timeout:
      send "tips"
      exit
  }
  wait up to 1 hour until attr.vip = true
  if attr.plan = "pro" and not in list "vip" {
    add to list "vip"
  } else if attr.visits > 10 {
    set attr.plan = "pro"
    set attr.renewal = now + 30d
  } else {
    hold out 10%
  }
  split {
    50%: {
      send "tips" transactional
    }
    50%: {
    }
  }
  repeat up to 3 every 2 days until exists(click within 2d) {
    send "tips"
  }
  exit
}
`

func parse(t testing.TB, source string) *language.Tree {
	t.Helper()
	tree, err := language.Parse(source)
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	return tree
}

// workflow returns a source with the given settings and steps after a trigger.
func workflow(statements string) string {
	return "workflow \"W\" v1 {\nenter on activity.signup\n" + statements + "\n}\n"
}

// compareGolden compares got with the golden file of this name in testdata. With the flag
// -update, it writes the file instead.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
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
