package contacts_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var visitorShape = regexp.MustCompile(`^vis_[0-9a-hjkmnp-tv-z]{26}$`)

func TestIdentifyGivesOneVisitorID(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		const identify = "contacts_identify"
		first := b.Want(t, identify, `{"email":"ada@example.com"}`)
		if id := first["visitor_id"].(string); first["result"] != "created" || !visitorShape.MatchString(id) {
			t.Errorf("first %v", first)
		}
		if _, there := b.AccountContact(t, "ada@example.com"); !there {
			t.Error("the contact made is not at the account")
		}
		for _, names := range []string{`{"email":"ADA@example.com"}`, `{"email":"ada@example.com","external_id":"7"}`, `{"external_id":"7"}`} {
			again := b.Want(t, identify, names)
			want := map[string]any{"contact_id": first["contact_id"], "visitor_id": first["visitor_id"], "result": "existing", "mailable": true}
			if diff := cmp.Diff(want, again); diff != "" {
				t.Errorf("%s (-want +got):\n%s", names, diff)
			}
		}
		if want := []string{"site_identified " + b.Org.ID + "/" + first["contact_id"].(string)}; !cmp.Equal(b.Activities(), want) {
			t.Errorf("recorded %v, want %v", b.Activities(), want)
		}
		for org, want := range map[string]any{b.Org.ID: first["visitor_id"], core.NewID(): ""} {
			if got, err := b.VisitorIDs.Current(t.Context(), org, first["contact_id"].(string)); err != nil || got != want {
				t.Errorf("the contact of organization %s has the visitor id %q, %v, want %q", org, got, err, want)
			}
		}
	})
}

func TestIdentifyRefusesIdentifiersOfTwoContacts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const identify = "contacts_identify"
	if none := b.Refusal(t, identify, `{}`, core.CodeValidationFailed); none.HTTPStatus() != http.StatusBadRequest {
		t.Errorf("nobody is refused with %d", none.HTTPStatus())
	}
	b.Refuse(t, identify, `{"external_id":"7"}`, core.CodeUnknownExternalID)
	b.Want(t, identify, `{"email":"one@example.com","external_id":"1"}`)
	b.Want(t, identify, `{"email":"two@example.com","external_id":"2"}`)
	b.Want(t, identify, `{"email":"free@example.com"}`)
	for _, names := range []string{
		`{"email":"one@example.com","external_id":"2"}`, `{"email":"one@example.com","external_id":"3"}`,
		`{"email":"new@example.com","external_id":"1"}`, `{"email":"free@example.com","external_id":"1"}`,
	} {
		b.Refuse(t, identify, names, core.CodeExternalIDConflict)
	}
	if _, there := b.AccountContact(t, "new@example.com"); there {
		t.Error("a refused address is at the account")
	}
}

// TestArchivingRevokesTheVisitorID checks that archiving a contact revokes its visitor id
// for good, and that contacts_identify then fails. After a write has reactivated the
// contact, contacts_identify returns a new visitor id, and the opt-out still holds.
func TestArchivingRevokesTheVisitorID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const identify = "contacts_identify"
	b.Want(t, "contacts_create", `{"email":"ada@example.com","unsubscribe_all":true}`)
	first := b.Want(t, identify, `{"email":"ada@example.com"}`)
	b.Want(t, "contacts_archive", `{"email":"ada@example.com"}`)
	if id, err := b.VisitorIDs.Current(t.Context(), b.Org.ID, first["contact_id"].(string)); err != nil || id != "" {
		t.Errorf("the archived contact has the visitor id %q, %v", id, err)
	}
	b.Want(t, "contacts_create", `{"email":"both@example.com"}`)
	b.Want(t, "contacts_archive", `{"email":"both@example.com"}`)
	for _, names := range []string{`{"email":"ada@example.com"}`, `{"email":"ADA@example.com","external_id":"new"}`, `{"email":"both@example.com","external_id":"2"}`} {
		if refusal := b.Refusal(t, identify, names, core.CodeConflict); !strings.Contains(refusal.Next, "PUT /v1/contacts/{email}") {
			t.Errorf("%s: %+v", names, refusal)
		}
	}
	if c := b.Want(t, "contacts_lookup", `{"email":"ada@example.com"}`); c["status"] != "archived" || c["external_id"] != nil {
		t.Errorf("brought back as %v", c)
	}
	b.Want(t, "contacts_create", `{"email":"ada@example.com"}`)
	again := b.Want(t, identify, `{"email":"ada@example.com"}`)
	if again["contact_id"] != first["contact_id"] || again["visitor_id"] == first["visitor_id"] || again["result"] != "existing" {
		t.Errorf("first %v, again %v", first, again)
	}
	if c := b.Want(t, "contacts_lookup", `{"email":"ada@example.com"}`); c["status"] != "active" || c["unsubscribe_all"] != true {
		t.Errorf("came back as %v", c)
	}
}

// TestIdentifyOfTheKnownNeedsNoAccount checks that identifying a visitor whose contact
// needs no change succeeds while the sending account is unavailable.
func TestIdentifyOfTheKnownNeedsNoAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.Want(t, "contacts_identify", `{"email":"ada@example.com","external_id":"1"}`)
	b.Account.Faults().Set(simulator.Fault{Kind: sending.Refused})
	if again := b.Want(t, "contacts_identify", `{"external_id":"1"}`); again["visitor_id"] != first["visitor_id"] {
		t.Errorf("first %v, again %v", first, again)
	}
	b.Refuse(t, "contacts_identify", `{"email":"new@example.com"}`, core.CodeUpstreamUnavailable)
}

// TestAgentsSeeTheVisitorID checks that results for agents include the visitor id, and REST
// responses about contacts do not.
func TestAgentsSeeTheVisitorID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Surface = core.Agent
	without := b.Want(t, "contacts_upsert", `{"email":"ada@example.com"}`)
	if _, has := without["visitor_id"]; has {
		t.Errorf("nobody asked: %v", without)
	}
	issued := b.Want(t, "contacts_upsert", `{"email":"ada@example.com","issue_visitor_id":true}`)
	if id, _ := issued["visitor_id"].(string); !visitorShape.MatchString(id) {
		t.Errorf("issued %v", issued)
	}
	for name, arguments := range map[string]string{"contacts_upsert": `{"email":"ada@example.com"}`, "contacts_lookup": `{"email":"ada@example.com"}`} {
		if got := b.Want(t, name, arguments); got["visitor_id"] != issued["visitor_id"] {
			t.Errorf("%s shows %v", name, got)
		}
	}
	b.Surface = core.REST
	if got := b.Want(t, "contacts_lookup", `{"email":"ada@example.com"}`); got["visitor_id"] != nil {
		t.Errorf("REST shows %v", got)
	}
}
