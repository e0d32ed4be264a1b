package sending_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
)

// TestLoggedCausesHoldNoAddresses checks that Failure.Error, the text for the log, contains
// the cause without email addresses and is limited in length.
func TestLoggedCausesHoldNoAddresses(t *testing.T) {
	t.Parallel()
	for cause, want := range map[string]string{
		"no such host": "sending account: refused: no such host",
		"no entry for <ann.lee@example.com>: 404":                                              "sending account: refused: no entry for <a***@example.com>: 404",
		`Get "http://localhost:1/v2/email/suppression/addresses/ann%40example.com": EOF`:       `sending account: refused: Get "http://localhost:1/v2/email/suppression/addresses/a***@example.com": EOF`,
		"arn:aws:iam::111122223333:role/mailhelm is not authorized to perform: ses:GetAccount": "sending account: refused: arn:aws:iam::111122223333:role/mailhelm is not authorized to perform: ses:GetAccount",
		"a@b@c.example, d@e.example":                                                           "sending account: refused: a***@c.example, d***@e.example",
	} {
		f := &sending.Failure{Kind: sending.Refused, Err: errors.New(cause)}
		if got := f.Error(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		if got := fmt.Errorf("sync: %w", f).Error(); got != "sync: "+want {
			t.Errorf("wrapped: %s", got)
		}
	}
	long := (&sending.Failure{Kind: sending.Invalid, Err: errors.New(strings.Repeat("ann@example.com ü", 1<<16))}).Error()
	if len(long) > 1200 || strings.Contains(long, "ann") {
		t.Errorf("%d bytes: %.100s", len(long), long)
	}
	if got := (&sending.Failure{Kind: sending.Refused}).Error(); got != "sending account: refused: no cause" {
		t.Error(got)
	}
}
