package server

import (
	"strings"
	"testing"
)

// The first three are texts in the answers of the local server that replaces Amazon SES;
// the third of them is an email address. The last is the secret key of the account. No
// answer to a caller may contain any of the four. The log must contain neither the email
// address nor the secret key.
const (
	providersWord    = "the provider's own word"
	providersHeader  = "provider-header-value"
	providersAddress = "named.by.the.provider@example.net"
	secretKey        = "a-secret-key-of-an-account"
)

// checkSilent checks that neither the body nor the headers of an answer contain text that
// comes from the provider of the sending account.
func checkSilent(t *testing.T, c call, got answer) {
	t.Helper()
	texts := []string{got.body}
	for name, values := range got.header {
		texts = append(texts, name)
		texts = append(texts, values...)
	}
	for _, text := range texts {
		for _, foreign := range []string{providersWord, providersHeader, providersAddress, secretKey, "AKID", "sesv2", "SESv2", "simulator:", "deserialization", "X-Amz"} {
			if strings.Contains(text, foreign) {
				t.Errorf("%s shows %q: %.500s", c.name(), foreign, text)
			}
		}
	}
}

// checkFaultLog checks that the log contains the error code of refused calls, and neither
// a secret key, a signing secret of a webhook nor an email address.
func checkFaultLog(t *testing.T, log string) {
	t.Helper()
	if !strings.Contains(log, "upstream_unavailable") {
		t.Errorf("the log does not say what was refused: %.1000s", log)
	}
	for line := range strings.Lines(log) {
		for _, private := range []string{secretKey, providersAddress, "whsec_", "suppressed@", "suppressed%40", "reader@", "read-", "put-", "patch-", "delete-", "archive-", "upsert-", "new-", "gone-", "named-", "visitor-", "bulk-"} {
			if strings.Contains(line, private) {
				t.Errorf("the log holds %q: %.600s", private, line)
				return
			}
		}
	}
}
