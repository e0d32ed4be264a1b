package ses_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
)

func manyContacts(n int) []sending.Contact {
	all := make([]sending.Contact, n)
	for i := range all {
		all[i] = sending.Contact{Email: fmt.Sprintf("p%d@example.com", i)}
	}
	return all
}

// TestContactsThatAreNotWritten checks PutContacts if SES fails after some contacts.
// PutContacts must stop, and each unwritten contact must have the failure as its outcome.
// If SES fails at the first contact, the whole call must fail.
func TestContactsThatAreNotWritten(t *testing.T) {
	t.Parallel()
	const contacts, limit = 100, 10
	for code, kind := range map[string]sending.FailureKind{
		"TooManyRequestsException": sending.Throttled, "AccessDeniedException": sending.Refused,
	} {
		for _, taken := range []int64{0, limit} {
			p := newProvider(t)
			p.handle(contactLists, respondWith(oneList))
			var written atomic.Int64
			create := strings.TrimSuffix(contact, "/ada%40example.com")
			p.handle("POST "+create, func(w http.ResponseWriter, r *http.Request) {
				if written.Add(1) <= taken {
					respondWith(`{}`)(w, r)
					return
				}
				refuse(400, code)(w, r)
			})
			for i := range contacts {
				p.handle(fmt.Sprintf("GET %s/p%d%%40example.com", create, i), refuse(404, "NotFoundException"))
			}
			outcomes, err := open(t, config(p)).PutContacts(t.Context(), "org", manyContacts(contacts))
			if taken == 0 {
				wantFailure(t, code, err, kind)
			} else if err != nil {
				t.Fatal(err)
			}
			held := int64(0)
			for i, outcome := range outcomes {
				if outcome == nil {
					held++
				} else {
					wantFailure(t, fmt.Sprint("contact ", i), outcome, kind)
				}
			}
			if held != taken || written.Load() > taken+20 {
				t.Errorf("%s: %d of %d hold, the provider was asked %d times", code, held, taken, written.Load())
			}
		}
	}
}
