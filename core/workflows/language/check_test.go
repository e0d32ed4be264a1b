package language_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// TestCheckWithoutNames checks that names are not checked without a schema, while other
// faults and warnings are reported.
func TestCheckWithoutNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ source, fault, warning string }{
		{workflow("send \"x\" via topic nowhere\nwait until attr.x\nset attr.y = 3\nadd to list \"z\"\nif attr.q = \"r\" and in segment \"s\" { exit }"), "", ""},
		{workflow(`set attr.email = "a@example.com"`), "attr.email cannot be set", ""},
		{"workflow \"W\" v1 { enter on 1 day after attr.x enroll existing send \"y\" }", "for all dates in the past", ""},
		{workflow("send \"x\"\nexit\nsend \"y\""), "", "no contact reaches this step"},
		{workflow("if suppressed { exit } else { split { 50%: { exit } 50%: { send \"x\" exit } } }\nsend \"y\""), "", "every arm before it ends with exit"},
		{workflow("if suppressed { exit }\nsend \"y\""), "", ""},
		{workflow("split { 50%: { exit } 50%: { } }\nsend \"y\""), "", ""},
		{workflow("wait up to 1 day until suppressed { timeout: exit }\nsend \"y\""), "", ""},
		{workflow("wait 1 day"), "", "sends no message"},
	} {
		warnings, err := language.CheckWithoutNames(parse(t, row.source))
		if row.fault == "" && err != nil || row.fault != "" && (err == nil || !strings.Contains(err.Error(), row.fault)) {
			t.Errorf("%s\nfails with %v, want %q", row.source, err, row.fault)
		}
		if (row.warning != "") != (len(warnings) == 1) || len(warnings) == 1 && !strings.Contains(warnings[0].Message, row.warning) {
			t.Errorf("%s\nhas the warnings %v, want %q", row.source, warnings, row.warning)
		}
	}
}
