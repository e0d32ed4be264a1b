package passwordchange_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/letters"
	"github.com/mailhelm/mailhelm/core/people/peopletest"
)

const (
	email     = peopletest.Email
	password  = peopletest.Password
	fresh     = "seven kettles on a hill"
	otherSide = peopletest.OtherSide
)

// wantNotice runs the waiting jobs and checks that they send exactly one letter, with this
// subject and text.
func wantNotice(h *peopletest.House, subject, text string) {
	h.T.Helper()
	h.Must(h.Work())
	letters := h.Sender.Take()
	if len(letters) != 1 || letters[0].To != email || !strings.Contains(letters[0].Subject, subject) ||
		!strings.Contains(letters[0].Text, text) || !strings.Contains(letters[0].Text, "https://app.test/security") {
		h.T.Errorf("letters %+v", letters)
	}
}

// linkIn returns the secret in the link of the only letter. It fails the test if there is
// another number of letters.
func linkIn(t *testing.T, letters []letters.Letter) string {
	t.Helper()
	if len(letters) != 1 {
		t.Fatalf("%d letters: %+v", len(letters), letters)
	}
	_, after, found := strings.Cut(letters[0].Text, "https://app.test/reset?token=")
	secret, _, _ := strings.Cut(after, "\n")
	if !found || !access.IsLink(secret) || !strings.Contains(letters[0].HTML, `<a href="https://app.test/reset?token=`+secret+`">`) {
		t.Fatalf("no link in %+v", letters[0])
	}
	return secret
}
