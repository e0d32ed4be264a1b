package senders_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/senders"
)

func TestVerify(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		claim, code := w.claimed(t, w.ada, "Test.Box@example.com")
		expires := start.Add(15 * time.Minute)
		want := senders.VerifiedSender{ID: claim.ID, Email: "Test.Box@example.com", Status: senders.Pending, CodeExpiresAt: &expires, CreatedAt: start}
		if diff := cmp.Diff(want, claim); diff != "" {
			t.Error(diff)
		}
		verifies := func(want bool) {
			t.Helper()
			got, err := w.Store.HasVerified(t.Context(), w.org.ID, w.ada.Owner(), "test.box@example.com")
			if got != want || err != nil {
				t.Errorf("has verified: %v, %v", got, err)
			}
		}
		verifies(false)
		_, err := w.confirm(t, w.ada, claim.ID, otherThan(code))
		refused(t, err, core.CodeValidationFailed, "is wrong; 4 attempts are left")
		w.advance(time.Minute)
		verified := w.clock()
		want.Status, want.CodeExpiresAt, want.VerifiedAt = senders.Verified, nil, &verified
		for _, code := range []string{code, code, otherThan(code)} { // a verified address stays verified, whatever the code
			got, err := w.confirm(t, w.ada, strings.ToUpper(claim.ID), code)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
			w.advance(time.Hour)
		}
		verifies(true)
		if got, err := w.Store.HasVerified(t.Context(), w.org.ID, w.bob.Owner(), "test.box@example.com"); got || err != nil {
			t.Errorf("another member has verified it: %v, %v", got, err)
		}
		again, err := w.start(t, w.ada, "TEST.box@example.com")
		if diff := cmp.Diff(want, again); diff != "" || err != nil {
			t.Error(err, diff)
		}
		if sent := w.deliver(t); len(sent) != 0 {
			t.Errorf("a code for a verified address: %+v", sent)
		}
		if diff := cmp.Diff([]senders.VerifiedSender{want}, w.list(t, w.ada)); diff != "" {
			t.Error(diff)
		}
		must(t, w.remove(t, w.ada, claim.ID))
		verifies(false)
		_, err = w.confirm(t, w.ada, claim.ID, code)
		refused(t, err, core.CodeNotFound, "verified sender")
		refused(t, w.remove(t, w.ada, claim.ID), core.CodeNotFound, "verified sender")
		if next, _ := w.claimed(t, w.ada, "test.box@example.com"); next.Status != senders.Pending || next.ID == claim.ID {
			t.Errorf("after the removal: %+v", next)
		}
	})
}

func TestWrongCodesLock(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		claim, code := w.claimed(t, w.ada, "box@example.com")
		for _, left := range []string{"4 attempts are left", "3 attempts", "2 attempts", "1 attempt is left", "0 attempts are left"} {
			_, err := w.confirm(t, w.ada, claim.ID, otherThan(code))
			refused(t, err, core.CodeValidationFailed, left)
		}
		for _, code := range []string{code, otherThan(code)} {
			_, err := w.confirm(t, w.ada, claim.ID, code)
			refused(t, err, core.CodeValidationFailed, "locked.*0 attempts are left")
		}
		if got := w.list(t, w.ada)[0]; got.Status != senders.Locked || got.CodeExpiresAt == nil {
			t.Errorf("%+v", got)
		}
		again, fresh := w.claimed(t, w.ada, "box@example.com")
		if again.ID != claim.ID || again.Status != senders.Pending {
			t.Errorf("started again: %+v", again)
		}
		if code != fresh { // a code of the earlier start counts as a wrong one
			_, err := w.confirm(t, w.ada, claim.ID, code)
			refused(t, err, core.CodeValidationFailed, "4 attempts are left")
		}
		if got, err := w.confirm(t, w.ada, claim.ID, fresh); got.Status != senders.Verified || err != nil {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestCodesExpire(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		claim, code := w.claimed(t, w.ada, "box@example.com")
		_, err := w.confirm(t, w.ada, claim.ID, otherThan(code))
		refused(t, err, core.CodeValidationFailed, "4 attempts")
		w.advance(senders.CodeLifetime)
		for range senders.MaxWrongCodes + 1 { // these codes are not counted
			_, err := w.confirm(t, w.ada, claim.ID, code)
			refused(t, err, core.CodeValidationFailed, "has expired; 4 attempts are left for it")
		}
		_, code = w.claimed(t, w.ada, "box@example.com")
		w.advance(senders.CodeLifetime - time.Microsecond)
		if got, err := w.confirm(t, w.ada, claim.ID, code); got.Status != senders.Verified || err != nil {
			t.Errorf("in the last moment: %+v, %v", got, err)
		}
	})
}

func TestRefusals(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, email := range []string{"Ada <ada@example.com>", " ada@example.com", "ada", "@example.com", "ada@example.com,bob@example.com", "ada@[127.0.0.1]", "ada@example.com\r\nBcc: x@example.com"} {
			_, err := w.start(t, w.ada, email)
			refused(t, err, core.CodeValidationFailed, "without a display name")
		}
		claim, _ := w.claimed(t, w.ada, "box@example.com")
		for _, code := range []string{"", "12345", "1234567", "12345a", "١٢٣٤٥٦", " 12345"} {
			_, err := w.confirm(t, w.ada, claim.ID, code)
			refused(t, err, core.CodeValidationFailed, "code")
		}
		if got := w.list(t, w.ada)[0]; got.Status != senders.Pending {
			t.Errorf("malformed codes are counted: %+v", got)
		}
		for _, id := range []string{"none", core.NewID()} {
			_, err := w.confirm(t, w.ada, id, "123456")
			refused(t, err, core.CodeNotFound, "verified sender")
			refused(t, w.remove(t, w.ada, id), core.CodeNotFound, "verified sender")
		}
		_, err := w.confirm(t, w.bob, claim.ID, "123456")
		refused(t, err, core.CodeNotFound, "verified sender")
		refused(t, w.remove(t, w.bob, claim.ID), core.CodeNotFound, "verified sender")
		if got := w.list(t, w.bob); len(got) != 0 {
			t.Errorf("another member sees %+v", got)
		}
		machine := core.Principal{Org: w.org, Credential: core.Credential{Kind: core.OAuthClient, ID: core.NewID()}}
		for name, arguments := range map[string]string{
			"verified_senders_list": `{}`, "verified_senders_create": `{"email":"x@example.com"}`,
			"verified_senders_confirm": `{"id":"` + claim.ID + `","code":"123456"}`, "verified_senders_delete": `{"id":"` + claim.ID + `"}`,
		} {
			_, err := w.call(t.Context(), machine, name, arguments)
			refused(t, err, core.CodeValidationFailed, "identifies none")
			if e := core.AsError(err); len(e.Fields) != 1 || e.Fields[0].Field != "authorization" {
				t.Errorf("%s: %+v", name, e.Fields)
			}
		}
		w.Letters = nil
		_, err = w.start(t, w.ada, "other@example.com")
		refused(t, err, core.CodeUpstreamUnavailable, "MAILHELM_SYSTEM_SMTP")
		if core.AsError(err).RetryAfter <= 0 {
			t.Error("the answer says no time to wait")
		}
		if status := core.AsError(err).HTTPStatus(); status != 503 || len(w.list(t, w.ada)) != 1 {
			t.Errorf("without a mail server: %d, %+v", status, w.list(t, w.ada))
		}
	})
}

// TestClaimsOfOthers checks when a member may claim an address that another member has claimed.
func TestClaimsOfOthers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		claim, code := w.claimed(t, w.ada, "box@example.com")
		_, err := w.start(t, w.bob, "BOX@example.com")
		refused(t, err, core.CodeConflict, "Another member")
		w.advance(senders.CodeLifetime) // a claim that was never proven does not keep the address for ever
		taken, code2 := w.claimed(t, w.bob, "box@example.com")
		_, err = w.confirm(t, w.ada, claim.ID, code)
		refused(t, err, core.CodeNotFound, "verified sender")
		_, err = w.confirm(t, w.bob, taken.ID, code2)
		must(t, err)
		w.advance(24 * time.Hour)
		_, err = w.start(t, w.ada, "box@example.com")
		refused(t, err, core.CodeConflict, "Another member")
		must(t, w.db.Members().RemoveMember(t.Context(), w.org.ID, w.bob.UserID))
		w.claimed(t, w.ada, "box@example.com")
		other := newWorld(t, w.db) // the same address in another organization
		other.claimed(t, other.ada, "box@example.com")
	})
}

// TestOwnersOfKeys checks that an API key acts for the person who created it, and that claims
// stay with a key after its rotation.
func TestOwnersOfKeys(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		keys := access.Lifecycle{Stores: w.db.Access(), Orgs: w.db.Orgs(), Transactor: w.db, Clock: w.clock}
		principal := func(k access.APIKey) core.Principal {
			stored, err := w.db.Keys().APIKey(t.Context(), w.org.ID, k.ID)
			must(t, err)
			return core.Principal{Org: w.org, KeyOwner: stored.Owner, Credential: core.Credential{Kind: core.APIKey, ID: k.ID}}
		}
		wanted := access.NewKey{OrgID: w.org.ID, Name: "Test", Environment: core.Live, Scopes: core.Scopes{core.InboxesManage}}
		own, _, err := keys.CreateKey(t.Context(), access.ActorOf(w.ada.UserID), wanted)
		must(t, err)
		claim, _ := w.claimed(t, principal(own), "box@example.com")
		if got := w.list(t, w.ada); len(got) != 1 || got[0].ID != claim.ID {
			t.Errorf("the person sees %+v", got)
		}
		made, _, err := keys.CreateKey(t.Context(), access.ActorOf(access.Operator), wanted)
		must(t, err)
		claim, code := w.claimed(t, principal(made), "shared@example.com")
		if text := claim.Email; text != "shared@example.com" {
			t.Error(text)
		}
		for range 2 {
			made, _, err = keys.RotateKey(t.Context(), access.ActorOf(w.bob.UserID), w.org.ID, made.ID)
			must(t, err)
		}
		if got, err := w.confirm(t, principal(made), claim.ID, code); got.Status != senders.Verified || err != nil {
			t.Errorf("after the rotation: %+v, %v", got, err)
		}
		w.advance(2 * access.Grace)
		_, err = w.start(t, w.bob, "shared@example.com")
		refused(t, err, core.CodeConflict, "Another member")
		_, err = keys.RevokeKey(t.Context(), access.ActorOf(w.bob.UserID), w.org.ID, made.ID)
		must(t, err)
		w.claimed(t, w.bob, "shared@example.com")
	})
}

func TestStartsPerHour(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for i := range senders.StartsPerHour {
			_, err := w.start(t, w.ada, "box@example.com")
			must(t, err)
			if i == 0 {
				w.advance(time.Minute)
			}
		}
		_, err := w.start(t, w.ada, "other@example.com")
		refused(t, err, core.CodeRateLimited, "5 codes within an hour")
		if wait := core.AsError(err).RetryAfter; wait != 59*time.Minute {
			t.Error("wait", wait)
		}
		must(t, w.remove(t, w.ada, w.list(t, w.ada)[0].ID)) // no way around the limit
		elsewhere := w.ada
		elsewhere.Org = newWorld(t, w.db).org
		for _, p := range []core.Principal{w.ada, elsewhere} {
			_, err = w.start(t, p, "box@example.com")
			refused(t, err, core.CodeRateLimited, "5 codes within an hour")
		}
		if got := w.list(t, w.ada); len(got) != 0 {
			t.Errorf("a refused start is stored: %+v", got)
		}
		_, err = w.start(t, w.bob, "bobs@example.com")
		must(t, err)
		w.advance(59 * time.Minute)
		_, err = w.start(t, w.ada, "mine@example.com")
		must(t, err)
		_, err = w.start(t, w.ada, "mine@example.com")
		refused(t, err, core.CodeRateLimited, "5 codes")
	})
}

// TestMailServerFails checks that a code is mailed once the mail server answers again, unless
// the start is over.
func TestMailServerFails(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.down = true
		claim, err := w.start(t, w.ada, "box@example.com")
		must(t, err)
		w.deliver(t)
		_, err = w.confirm(t, w.ada, claim.ID, "000000") // no code can be right before the mail
		refused(t, err, core.CodeValidationFailed, "4 attempts")
		w.down = false
		sent := w.deliver(t)
		if len(sent) != 1 {
			t.Fatalf("%d letters", len(sent))
		}
		if got, err := w.confirm(t, w.ada, claim.ID, codeOf(t, sent[0])); got.Status != senders.Verified || err != nil {
			t.Errorf("%+v, %v", got, err)
		}
		for name, end := range map[string]func(v senders.VerifiedSender){
			"late@example.com":    func(senders.VerifiedSender) { w.advance(senders.CodeLifetime) },
			"removed@example.com": func(v senders.VerifiedSender) { must(t, w.remove(t, w.ada, v.ID)) },
			"locked@example.com": func(v senders.VerifiedSender) {
				for range senders.MaxWrongCodes {
					_, err := w.confirm(t, w.ada, v.ID, "000000")
					refused(t, err, core.CodeValidationFailed, "wrong")
				}
			},
		} {
			v, err := w.start(t, w.ada, name)
			must(t, err)
			end(v)
			if sent := w.deliver(t); len(sent) != 0 {
				t.Errorf("%s: %+v", name, sent)
			}
		}
		w.advance(time.Hour)
		_, err = w.start(t, w.ada, "twice@example.com")
		must(t, err)
		_, err = w.start(t, w.ada, "twice@example.com")
		must(t, err)
		if sent := w.deliver(t); len(sent) != 1 {
			t.Errorf("codes for two starts: %+v", sent)
		}
	})
}

// TestCodesAreNotStored checks that neither the code nor its plain hash is in the database.
func TestCodesAreNotStored(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		claim, code := w.claimed(t, w.ada, "box@example.com")
		stored, err := w.Store.Claim(t.Context(), w.org.ID, claim.ID)
		must(t, err)
		if len(stored.CodeHash) != 32 || bytes.Equal(stored.CodeHash, access.HashSecret(code)) {
			t.Errorf("stored: %x", stored.CodeHash)
		}
		w.CodeKey = bytes.Repeat([]byte{1}, senders.CodeKeyBytes) // the hash depends on the key
		_, err = w.confirm(t, w.ada, claim.ID, code)
		refused(t, err, core.CodeValidationFailed, "wrong")
	})
}
