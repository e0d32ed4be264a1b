package contactfile_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/contactfile"
)

func TestEscapedTextIsNoFormula(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "Ada": "Ada", "a=1": "a=1", "'a": "'a", "=1+1": "'=1+1", "  =1": "'  =1", "+49 30": "'+49 30", "-5": "'-5", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1",
		"＝1": "'＝1", "é": "é", "\xff=": "\xff=", "'": "'", "'=1": "''=1", "''-1": "'''-1",
	} {
		if got := contactfile.EscapeFormula(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}
