package audience_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/sending"
)

// stub is a contact that only an activity has named.
func (b *bundle) stub(t *testing.T, email string) activities.Person {
	t.Helper()
	p := activities.Person{ID: core.NewID(), Email: email, EmailKey: email}
	if n, err := b.db.Activities().InsertStubs(t.Context(), b.org.ID, []activities.Person{p}, b.clock()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	return p
}

// TestAStubIsFilled: for whoever writes contacts it is as good as new, and it stays the
// contact that it was.
func TestAStubIsFilled(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string]string{
		"contacts_create":  `{"email":"new@x.example","attributes":{"city":"Oslo"}}`,
		"contacts_replace": `{"email":"new@x.example","attributes":{"city":"Oslo"}}`,
		"contacts_update":  `{"email":"new@x.example","attributes":{"city":"Oslo"}}`,
	} {
		b := setup(t)
		p := b.stub(t, "new@x.example")
		b.want(t, name, arguments)
		c, err := b.db.Audience().ContactByID(t.Context(), b.org.ID, p.ID)
		if err != nil || c.Stub || c.Attributes["city"] != "Oslo" {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		if _, err := b.account.Contact(t.Context(), b.org.ID, "new@x.example"); err != nil {
			t.Errorf("%s: the account does not know the address: %v", name, err)
		}
	}
}

func TestAStubIsNotMailable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.stub(t, "new@x.example")
	b.surface = core.Agent
	got := b.want(t, "contacts_lookup", `{"email":"new@x.example"}`)
	if note, _ := got["mailable_note"].(string); !strings.HasPrefix(note, "Not mailable:") {
		t.Errorf("%+v", got)
	}
	if _, err := b.account.Contact(t.Context(), b.org.ID, "new@x.example"); !sending.IsNotFound(err) {
		t.Errorf("the account was told: %v", err)
	}
}

// TestASyncEndsAStub: the account knows the address, so it is an ordinary contact that
// nobody has said anything about.
func TestASyncEndsAStub(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.stub(t, "new@x.example")
	b.advance(time.Second)
	if _, _, err := b.db.Audience().MirrorConsent(t.Context(), b.org.ID, []sending.Contact{{Email: "new@x.example"}}, b.clock(), b.clock()); err != nil {
		t.Fatal(err)
	}
	c, err := b.db.Audience().ContactByID(t.Context(), b.org.ID, p.ID)
	if err != nil || c.Stub || !c.Shell {
		t.Errorf("%+v, %v", c, err)
	}
	act := activities.Activity{ID: core.NewID(), ContactID: p.ID, Name: "a", OccurredAt: b.clock(), ReceivedAt: b.clock(), Source: activities.FromAPI, Properties: []byte("{}")}
	if err := b.db.Activities().Insert(t.Context(), b.org.ID, []activities.Activity{act}); err != nil {
		t.Fatal(err)
	}
	if err := b.db.Audience().DropShell(t.Context(), b.org.ID, p.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.db.Audience().ContactByID(t.Context(), b.org.ID, p.ID); err != nil {
		t.Errorf("a contact with activities was dropped: %v", err)
	}
}
