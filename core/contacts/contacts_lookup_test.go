package contacts_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestLookupOfASuppressedAddress looks contacts up whose addresses the account suppresses. The
// other reasons not to mail a contact are named first, because a person can change them.
func TestLookupOfASuppressedAddress(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		b.Surface = core.Agent
		const suppressed = "Not mailable: the sending account suppresses the address."
		for _, tc := range []struct{ email, more, want string }{
			{"Gone@example.com", ``, suppressed},
			{"choosy@example.com", `,"topic_preferences":{"news":"OPT_OUT"}`, suppressed},
			{"out@example.com", `,"unsubscribe_all":true`, "Not mailable: the contact opted out of everything."},
			{"fine@example.com", ``, "Mailable."},
		} {
			b.Want(t, "contacts_upsert", `{"email":"`+tc.email+`"`+tc.more+`}`)
			if tc.email != "fine@example.com" {
				if err := db.SegmentChanges().AddSuppressed(t.Context(), b.Org.ID, []string{core.EmailKey(tc.email)}); err != nil {
					t.Fatal(err)
				}
			}
			got := b.Want(t, "contacts_lookup", `{"email":"`+tc.email+`"}`)
			if note, _ := got["mailable_note"].(string); !strings.HasPrefix(note, tc.want) {
				t.Errorf("%s: %q, want %q", tc.email, note, tc.want)
			}
		}
	})
}
