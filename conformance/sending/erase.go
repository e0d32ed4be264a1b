package sending

import (
	"testing"

	port "github.com/mailhelm/mailhelm/core/sending"
)

// erasedContact erases a contact twice, in another spelling. The contacts with other addresses,
// and those of another organization, must stay.
func erasedContact(t *testing.T, s Subject) {
	const email, other = "person@example.com", "other@example.com"
	s.Seed(t, "org", people(port.Contact{Email: email}, port.Contact{Email: other}))
	s.Seed(t, "another", people(port.Contact{Email: email}))
	for range 2 {
		WantKind(t, "EraseAddress", s.Account.EraseAddress(t.Context(), "org", "PERSON@example.com"), "")
		_, err := s.Account.Contact(t.Context(), "org", email)
		WantKind(t, "reading an erased contact", err, port.NotFound)
	}
	get(t, s.Account, other)
	if _, err := s.Account.Contact(t.Context(), "another", email); err != nil {
		t.Errorf("the contact of another organization: %v", err)
	}
}

// erasedAddress erases an address that is on the contact list and on the suppression list.
func erasedAddress(t *testing.T, s Subject) {
	const email, other = "bounced@example.com", "complained@example.com"
	setup := people(port.Contact{Email: email})
	setup.Suppressed = []port.Suppressed{suppressedEntry(email, port.SuppressedByBounce, 0), suppressedEntry(other, port.SuppressedByComplaint, 1)}
	s.Seed(t, "org", setup)
	WantKind(t, "EraseAddress", s.Account.EraseAddress(t.Context(), "org", email), "")
	_, err := s.Account.Contact(t.Context(), "org", email)
	WantKind(t, "reading an erased contact", err, port.NotFound)
	_, err = s.Account.FindSuppressed(t.Context(), "org", email)
	WantKind(t, "looking for an erased address", err, port.NotFound)
	if _, err := s.Account.FindSuppressed(t.Context(), "org", other); err != nil {
		t.Errorf("another suppressed address: %v", err)
	}
}
