package diagram_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

var update = flag.Bool("update", false, "write the golden files anew")

func parse(t testing.TB, source string) *language.Tree {
	t.Helper()
	tree, err := language.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	return tree
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
  wait until 2026-12-24
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
    wait until attr.renewal
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
    if attr.city = "Paris" {
      exit
    }
    send "tips"
  }
  wait 3 days
}
`

// drawings has the drawings of the golden files.
func drawings(t *testing.T) map[string]string {
	t.Helper()
	tree := parse(t, everything)
	return map[string]string{
		"everything.svg": diagram.Draw(tree, diagram.Options{}),
		"run.svg": diagram.Draw(tree, diagram.Options{
			IDs: "run-", Counts: map[string]int{"0": 1204, "2": 96, "4.elseif1.1": 7, "6.body.1": 0}, CountLabel: "contacts",
			Lit: map[string]bool{"0": true, "1": true, "2": true, "3": true, "4": true, "4.elseif1.0": true, "4.elseif1.1": true, "5": true, "5.arm2": true, "6": true, "6.body.0": true, "6.body.1": true, "7": true, diagram.End: true},
		}),
		"small.svg": diagram.Draw(parse(t, "workflow \"A & <b> \\\"c\\\"\" v1 {\n enter on activity.signup\n send \"</title><script>alert(1)</script>\"\n exit\n}"), diagram.Options{NoStyle: true}),
	}
}

func TestGoldenDrawings(t *testing.T) {
	t.Parallel()
	for name, got := range drawings(t) {
		file := filepath.Join("testdata", name)
		if *update {
			if err := goldentest.Write(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs from the golden file; -update writes it anew", name)
		}
	}
}
