package language_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

func TestEverything(t *testing.T) {
	t.Parallel()
	tree := parse(t, everything)
	if got := tree.String(); got != everything {
		t.Errorf("the canonical spelling is\n%s", got)
	}
	checked, err := language.Check(tree, schema)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for step := range tree.All() {
		paths = append(paths, step.Path+" "+step.Step.Type())
	}
	const want = "0 send, 1 wait, 2 wait_until, 3 wait_until, 4 wait_for, 4.timeout.0 send, 4.timeout.1 exit, 5 wait_for, " +
		"6 if, 6.then.0 add_to_list, 6.elseif1.0 set_attribute, 6.elseif1.1 set_attribute, 6.else.0 hold_out, " +
		"7 split, 7.arm1.0 send, 8 repeat, 8.body.0 send, 9 exit"
	if got := strings.Join(paths, ", "); got != want {
		t.Errorf("paths are\n%s", got)
	}
	if s := tree.Settings; s.Window.From != 9*60 || s.Window.Until != 17*60+30 || s.Cap.Messages != 3 || s.Enroll.Since.Amount != 30 || s.Reentry != language.OnRematch {
		t.Errorf("the settings are %+v", s)
	}
	if exit := tree.Settings.Exits[1]; checked.Condition(exit.When) == nil {
		t.Error("the condition of an exit is not checked")
	}
}

// TestOffsets checks that each step and share has the offset of its first character.
func TestOffsets(t *testing.T) {
	t.Parallel()
	for step := range parse(t, everything).All() {
		rest := everything[step.Step.Pos():]
		if first, _, _ := strings.Cut(step.Step.Type(), "_"); first != "split" && !strings.HasPrefix(rest, first) {
			t.Errorf("the step %s begins with %.20q", step.Path, rest)
		}
		if split, is := step.Step.(*language.Split); is && !strings.HasPrefix(everything[split.Shares[1].Offset:], "50%: {\n    }") {
			t.Errorf("the second share begins with %.20q", everything[split.Shares[1].Offset:])
		}
	}
}

// TestOtherSpellings checks that sources with other spellings mean the same as the canonical
// one.
func TestOtherSpellings(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ source, canonical string }{
		{`send "a" via topic news`, `send "a" via topic "news"`},
		{`wait 1 days`, `wait 1 day`},
		{`send window 09:00-17:30 in contact timezone send "a"`, "send window 9am-5:30pm in contact timezone\n\n  send \"a\""},
		{`send window 10pm-12am in contact timezone send "a"`, "send window 10pm-12am in contact timezone\n\n  send \"a\""},
		{"frequency cap 2 per day\nexit", "frequency cap 2 per 1 day\n\n  exit"},
		{"wait up to 3 days until suppressed {timeout:}", "wait up to 3 days until suppressed"},
		{"if(suppressed){exit}", "if suppressed {\n    exit\n  }"},
		{"reentry once\nexit", "reentry once\n\n  exit"},
	} {
		got := parse(t, workflow(row.source)).String()
		got = strings.TrimSuffix(strings.TrimPrefix(got, "workflow \"W\" v1 {\n  enter on activity.signup\n"), "\n}\n")
		if got = strings.Trim(got, "\n "); got != row.canonical {
			t.Errorf("%s is printed as\n%s", row.source, got)
		}
	}
}

// TestTriggers checks each form of the trigger.
func TestTriggers(t *testing.T) {
	t.Parallel()
	for _, trigger := range []string{
		`segment "new-customers"`, `event click`, `event delivery_delay`, `activity.purchase`, `activity."Order paid"`,
		`3 days before attr.renewal`, `0 days after attr.renewal`, `1 hour after attr.renewal where attr.plan = "pro"`,
	} {
		source := "workflow \"W\" v1 {\n  enter on " + trigger + "\n\n  exit\n}\n"
		if got := parse(t, source).String(); got != source {
			t.Errorf("%s becomes\n%s", trigger, got)
		}
	}
}

// TestGoldenFaults shows the faults of sources. Each source is reported whole.
func TestGoldenFaults(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, source := range faulty {
		b.WriteString(strings.TrimSpace(source) + "\n")
		_, err := language.Compile(source, schema)
		if err == nil {
			t.Errorf("no fault in\n%s", source)
			continue
		}
		faults, is := errors.AsType[predicate.Errors](err)
		if !is {
			t.Fatalf("%T: %v", err, err)
		}
		for _, fault := range faults {
			fmt.Fprintf(&b, "  -> %s", fault)
			if fault.Known != nil {
				fmt.Fprintf(&b, " (known: %s)", strings.Join(fault.Known, ", "))
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	compareGolden(t, "faults.txt", b.String())
}

// faulty has sources with faults. The first shows that one fault does not hide the others.
var faulty = []string{
	workflow(`send welcome
wiat 3 days
if attr.plan == "pro" {
  send "welcome" via "news"
} else if {
  wait 3d
}
hold out 110%
split { 50%: { exit } 40%: { exit } }
set attr.plan = "gold"
exit "late" when suppressed`),
	``, `workflow`, `workflow "W"`, `workflow "W" v2 { }`, `workflow "W" v1 {`, `workflow "W" v1 { }`, `workflow "" v1 { enter on activity.x exit }`,
	"workflow \"W\" v1 { enter on activity.x\n exit } exit", `worfklow "W" v1 { enter on activity.x exit }`,
	"workflow \"W\" v1 {\n enter on event opened\n exit\n}", "workflow \"W\" v1 {\n enter on event activity.x\n exit\n}",
	"workflow \"W\" v1 {\n enter on segment \"new-custmers\"\n exit\n}", "workflow \"W\" v1 {\n enter on segment \"old\"\n exit\n}",
	"workflow \"W\" v1 {\n enter on 3d before attr.renewal\n exit\n}", "workflow \"W\" v1 {\n enter on 3 days before attr.city\n exit\n}",
	"workflow \"W\" v1 {\n enter on 3 days after attr.renewal\n enroll existing\n exit\n}", "workflow \"W\" v1 {\n enter on something\n exit\n}",
	workflow("reentry on match\nreentry once\nexit"), workflow("frequency cap many per week\nexit"), workflow("enroll everybody\nexit"),
	workflow("send window 9-17 in contact timezone\nexit"), workflow("send window 9am-9am in contact timezone\nexit"), workflow("send window 25:00-26:00 in contact timezone\nexit"),
	workflow("exit \"a\" when suppressed\nexit \"a\" when suppressed\nexit"), workflow("exit \"a\" suppressed\nexit"),
	workflow("wait for 3 days"), workflow("wait until tomorrow"), workflow("wait until 2026-02-30"), workflow("wait 0 days"), workflow("wait 1.5 days"), workflow("wait 11 months\nwait 4000 days"),
	workflow("wait up to 3 days"), workflow("wait up to 3 days until suppressed { exit }"),
	workflow(`send "welcome" via topic "news" transactional`), workflow(`send "welcom"`), workflow(`send "welcome" via topic "nwes"`), workflow(`send "nothing like it"`), workflow(`send "unfinished"`), workflow("send \"welcome\" via topic brewing-tips\nwait 3d"),
	workflow("if attr.plna = \"pro\" { exit }"), workflow("if attr.visits = \"many\" and attr.vip = 1 { exit }"), workflow("else { exit }"),
	workflow("split { 100%: { exit } }"), workflow("split { fifty: { exit } }"), workflow("repeat up to 101 every 1 day { exit }"), workflow("repeat 3 times { exit }"),
	workflow("set attr.email = \"a@example.com\""), workflow("set attr.visits = \"many\""), workflow("set attr.visits + 1"), workflow("add to list \"vpi\""), workflow("add to vip"),
	workflow("email \"welcome\""), workflow("exit when suppressed"), workflow(`send "unclosed`), workflow("if suppressed && suppressed { exit }"), workflow("}"),
}
