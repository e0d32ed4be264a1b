package suppression_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestAnAddressIsListedInEverySpellingOfItsDomain checks that events count against the same
// address if they spell its domain in Unicode or in punycode, in upper or lower case.
func TestAnAddressIsListedInEverySpellingOfItsDomain(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for _, spelled := range []string{"Ann@M\u00fcnchen.example", "ann@xn--mnchen-3ya.example", "ann@XN--MNCHEN-3YA.example"} {
			b := setup(t, db)
			b.must(b.record(t.Context(), b.event(spelled, messages.Complaint, "", 1)))
			for _, asked := range []string{"ann@m\u00fcnchen.example", "ANN@xn--mnchen-3ya.example"} {
				if got := b.status(asked); got != "listed complaint" {
					t.Errorf("%s complained, and %s is %q", spelled, asked, got)
				}
			}
		}
	})
}
