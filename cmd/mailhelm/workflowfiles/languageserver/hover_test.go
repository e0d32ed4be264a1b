package languageserver

import (
	"strings"
	"testing"
)

func TestMeanings(t *testing.T) {
	t.Parallel()
	const start = "workflow \"W\" v1 {\n  enter on activity.\"Order paid\" where attr.plan = \"pro\"\n  exit \"bought\" when in list \"vip\"\n  "
	for _, row := range []struct{ text, want string }{
		{"work|flow \"W\" v1 {", "A file has one workflow."},
		{strings.Replace(start, "enter on", "en|ter on", 1), "enter on segment"},
		{strings.Replace(start, "enter on", "enter o|n", 1), "enter on segment"},
		{strings.Replace(start, "Order paid", "Order |paid", 1), `The activity "Order paid"`},
		{strings.Replace(start, "attr.plan", "attr.|plan", 1), "of the type enum. Values: \"free\", \"pro\".\n\nWhat they \\[pay\\](http://evil.example)."},
		{strings.Replace(start, "attr.plan", "attr.e|mail", 1), "The address of the contact"},
		{strings.Replace(start, "attr.plan", "attr.un|known", 1), "The attribute `unknown` of the contact."},
		{strings.Replace(start, "exit", "ex|it", 1), `exit "NAME" when CONDITION`},
		{strings.Replace(start, "when", "wh|en", 1), `exit "NAME" when CONDITION`},
		{strings.Replace(start, "where", "wh|ere", 1), "enter on segment"},
		{strings.Replace(start, "vip", "v|ip", 1), "The list \"vip\", with 3 contacts.\n\nOur best."},
		{strings.Replace(start, "bought", "bo|ught", 1), ""},
		{start + "exi|t", "Ends the run of the contact."},
		{start + "send win|dow 9am-5pm in contact timezone", "TIME-TIME"},
		{start + "send \"wel|come\" via topic news", "The template \"welcome\".\n\nSubject: \"Hello\""},
		{start + "send \"welcome\" via topic ne|ws", "Contacts without a choice are subscribed.\n\nMonthly."},
		{start + "send \"welcome\" via to|pic news", ""},
		{start + "send \"welcome\" trans|actional", "send \"TEMPLATE\""},
		{start + "wait u|p to 3 days until suppressed", "wait up to DURATION until CONDITION"},
		{start + "wait un|til 2026-12-24", "wait until DATE"},
		{start + "if in segment \"new-|customers\" { exit }", "with 9 contacts.\n\n```text\nhas attr.plan\n```"},
		{start + "if count(se|nd) > 3 { exit }", ""},
		{start + "wait 3 days | ", ""},
	} {
		offset := strings.IndexByte(row.text, '|')
		got, from, to := meaningAt(strings.Replace(row.text, "|", "", 1), offset, known)
		if row.want == "" && got != "" || !strings.Contains(got, row.want) || got != "" && (from > offset || to < offset) {
			t.Errorf("%s\nmeans %q, want %q", row.text, got, row.want)
		}
	}
}
