package closing_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/people/peopletest"
	"github.com/mailhelm/mailhelm/core/senders"
	closingstore "github.com/mailhelm/mailhelm/storage/closing"
)

var operator = access.ActorOf(access.Operator)

// forgotten records what was removed from the cache of principals.
type forgotten struct{ users, credentials []string }

func (f *forgotten) ForgetUser(id string) { f.users = append(f.users, id) }

func (f *forgotten) Forget(id string) { f.credentials = append(f.credentials, id) }

// peopleOf returns the operations on the people of a house, and the record of its cache.
func peopleOf(h *peopletest.House) (closing.People, *forgotten) {
	cache := &forgotten{}
	keys := access.Lifecycle{Stores: h.DB.Access(), Orgs: h.DB.Orgs(), Transactor: h.DB, Clock: h.Clock}
	return closing.People{
		Store: closingstore.NewPersonStore(h.DB.DB), Users: h.DB.Users(), Members: h.DB.Members(), Grants: h.DB.Grants(),
		Keys:  closing.Keys{List: h.DB.Keys(), Revoke: keys.RevokeKey},
		Audit: h.DB.Audit(), Transactor: h.DB, Clock: h.Clock, Principals: cache,
	}, cache
}

// hand gives the person a grant and a key in the first organization, and the operator a key.
func hand(h *peopletest.House) (access.Grant, access.APIKey) {
	h.T.Helper()
	org := h.Orgs[0].ID
	grant := access.Grant{
		ID: core.NewID(), OrgID: org, UserID: h.User.ID, ClientID: "oc_client", Resource: access.API,
		Scopes: core.NewScopes("api.lists.view"), CreatedAt: h.Clock(),
	}
	h.Must(h.DB.Grants().InsertGrant(h.T.Context(), grant))
	var key access.APIKey
	for _, owner := range []string{"", h.User.ID} {
		minted := access.MintAPIKey(core.Live)
		key = access.APIKey{
			ID: core.NewID(), OrgID: org, Name: "Shop", Environment: core.Live, Prefix: minted.Prefix, SecretHash: minted.Hash,
			Owner: owner, CreatedAt: h.Clock(),
		}
		h.Must(h.DB.Keys().InsertAPIKey(h.T.Context(), key))
	}
	return grant, key
}

// isRevoked reports whether the grant and the key are revoked.
func isRevoked(ctx context.Context, h *peopletest.House, g access.Grant, k access.APIKey) (grant, key bool) {
	h.T.Helper()
	storedGrant, err := h.DB.Grants().Grant(ctx, g.OrgID, g.ID)
	h.Must(err)
	storedKey, err := h.DB.Keys().APIKey(ctx, k.OrgID, k.ID)
	h.Must(err)
	return storedGrant.RevokedAt != nil, storedKey.RevokedAt != nil
}

func TestDisabledPersonCannotSignIn(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		ctx := t.Context()
		p, cache := peopleOf(h)
		grant, key := hand(h)
		session, other := h.SignIn(peopletest.Password), h.SignIn(peopletest.Password)
		h.Must(h.Passwords.AskReset(ctx, peopletest.Email, peopletest.OtherSide))
		h.Must(h.Work())
		h.Sender.Take()

		ended, err := p.Disable(ctx, operator, h.User.ID, closing.Options{})
		h.Must(err)
		if ended.Sessions != 2 || ended.Grants != 1 || len(ended.Keys) != 1 || ended.Keys[0].ID != key.ID || ended.KeysRevoked || len(ended.LastOwnerOf) != 2 {
			t.Errorf("%+v", ended)
		}
		if h.SignedIn(session) || h.SignedIn(other) {
			t.Error("a session goes on")
		}
		if g, k := isRevoked(ctx, h, grant, key); !g || k {
			t.Errorf("grant revoked: %v, key revoked: %v", g, k)
		}
		h.WantAudited("user.disabled", access.Operator)
		if diff := cmp.Diff([]string{h.User.ID}, cache.users); diff != "" || cache.credentials != nil {
			t.Errorf("cache: %s, %v", diff, cache.credentials)
		}

		h.WantCode("the right password", h.Try(peopletest.Email, peopletest.Password, "", ""), core.CodeInvalidKey)
		wrong := core.AsError(h.Try(peopletest.Email, "wrong", "", ""))
		if right := core.AsError(h.Try(peopletest.Email, peopletest.Password, "", "")); right.Message != "This account is disabled." || wrong.Message == right.Message {
			t.Errorf("right %q, wrong %q", right.Message, wrong.Message)
		}
		_, err = h.Sessions.BeginFirst(ctx, members.Member{OrgID: h.Orgs[0].ID, UserID: h.User.ID}, "", "")
		h.WantCode("a session without a password", err, core.CodeInvalidKey)
		h.Must(h.Passwords.AskReset(ctx, peopletest.Email, peopletest.OtherSide))
		h.Must(h.Work())
		if letters := h.Sender.Take(); len(letters) != 0 {
			t.Errorf("letters %+v", letters)
		}

		first := *ended.User.DisabledAt
		h.Advance(time.Hour)
		again, err := p.Disable(ctx, operator, h.User.ID, closing.Options{RevokeKeys: true})
		h.Must(err)
		if !again.User.DisabledAt.Equal(first) || !again.KeysRevoked {
			t.Errorf("again: %+v", again)
		}
		if _, k := isRevoked(ctx, h, grant, key); !k {
			t.Error("the key still works")
		}
		_, err = p.Enable(ctx, operator, h.User.ID)
		h.Must(err)
		h.WantAudited("user.enabled", access.Operator)
		if g, k := isRevoked(ctx, h, grant, key); !g || !k || h.SignedIn(session) {
			t.Error("enabling restored what had ended")
		}
		h.Must(h.Try(peopletest.Email, peopletest.Password, "", ""))
	})
}

// TestResetLinkOfDisabledPerson checks that a reset link that is stored after the account was
// disabled, by a job that began before, sets no password.
func TestResetLinkOfDisabledPerson(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		ctx := t.Context()
		p, _ := peopleOf(h)
		h.Must(h.Passwords.AskReset(ctx, peopletest.Email, peopletest.OtherSide))
		h.Must(h.Work())
		letters := h.Sender.Take()
		if len(letters) != 1 {
			t.Fatalf("letters %+v", letters)
		}
		secret := access.MintLink()
		_, err := p.Disable(ctx, operator, h.User.ID, closing.Options{})
		h.Must(err)
		h.Must(h.DB.PasswordResets().InsertReset(ctx, passwordchange.Reset{
			Hash: secret.Hash, UserID: h.User.ID, Mark: make([]byte, 32), CreatedAt: h.Clock(), ExpiresAt: h.Clock().Add(time.Hour),
		}))
		_, err = h.Passwords.Resettable(ctx, secret.Secret)
		h.WantCode("a reset link", err, core.CodeNotFound)
	})
}

func TestDeletedPersonIsGone(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		ctx := t.Context()
		p, cache := peopleOf(h)
		grant, key := hand(h)
		h.SignIn(peopletest.Password)
		_, err := p.Delete(ctx, operator, h.User.ID, closing.Options{})
		h.WantCode("the last owner", err, core.CodeConflict)

		// A disabled owner cannot take over, so the person is still the last owner.
		other := access.User{ID: core.NewID(), Email: "eve@example.org", Name: "Eve", PasswordHash: h.User.PasswordHash, CreatedAt: h.Clock()}
		h.Must(h.DB.Users().InsertUser(ctx, other))
		for _, org := range h.Orgs {
			h.Must(h.DB.Members().AddMember(ctx, org.ID, other.ID, string(members.Owner)))
		}
		_, err = p.Disable(ctx, operator, other.ID, closing.Options{})
		h.Must(err)
		_, err = p.Delete(ctx, operator, h.User.ID, closing.Options{})
		h.WantCode("the last owner who can sign in", err, core.CodeConflict)
		_, err = p.Enable(ctx, operator, other.ID)
		h.Must(err)

		plant(h, h.User.ID)
		plant(h, other.ID)
		plan, err := p.PlanDelete(ctx, h.User.ID)
		h.Must(err)
		for _, table := range plan.Tables {
			if table.Rows == 0 {
				t.Errorf("the test stores nothing in %s", table.Table)
			}
		}
		before, err := p.PlanDelete(ctx, other.ID)
		h.Must(err)
		deleted, err := p.Delete(ctx, operator, h.User.ID, closing.Options{})
		h.Must(err)
		if diff := cmp.Diff(plan.Tables, deleted.Tables); diff != "" || deleted.Grants != 1 {
			t.Errorf("deleted, not as planned: %s", diff)
		}
		after, err := p.PlanDelete(ctx, other.ID)
		h.Must(err)
		if diff := cmp.Diff(before.Tables, after.Tables); diff != "" {
			t.Errorf("the other person: %s", diff)
		}
		left, err := closingstore.NewPersonStore(h.DB.DB).CountRows(ctx, h.User.ID)
		h.Must(err)
		for _, table := range left {
			if table.Rows != 0 {
				t.Errorf("%d rows of %s are left", table.Rows, table.Table)
			}
		}
		if g, k := isRevoked(ctx, h, grant, key); !g || k {
			t.Errorf("grant revoked: %v, key revoked: %v", g, k)
		}
		h.WantAudited("user.deleted", access.Operator)
		if len(cache.users) == 0 || cache.users[len(cache.users)-1] != h.User.ID {
			t.Errorf("cache: %v", cache.users)
		}
		h.WantCode("the password", h.Try(peopletest.Email, peopletest.Password, "", ""), core.CodeInvalidKey)
		_, err = p.Delete(ctx, operator, h.User.ID, closing.Options{})
		h.WantCode("again", err, core.CodeNotFound)
	})
}

// plant stores a row of a person in every table from which a deletion deletes.
func plant(h *peopletest.House, userID string) {
	h.T.Helper()
	ctx, now, org, later := h.T.Context(), h.Clock(), h.Orgs[0].ID, h.Clock().Add(time.Hour)
	hash := func(of string) []byte { return []byte(of + userID) }
	h.Must(h.DB.Sessions().InsertSession(ctx, people.Session{Hash: hash("s"), UserID: userID, OrgID: org, CreatedAt: now, LastSeenAt: now, ExpiresAt: later}))
	h.Must(h.DB.Passkeys().InsertCeremony(ctx, people.PasskeyCeremony{Hash: hash("c"), UserID: userID, Purpose: "register", Data: "{}", ExpiresAt: later}))
	h.Must(h.DB.Passkeys().InsertPasskey(ctx, people.Passkey{ID: core.NewID(), UserID: userID, CredentialID: hash("p"), Name: "Phone", Credential: "{}", CreatedAt: now}))
	h.Must(h.DB.PasswordResets().InsertReset(ctx, passwordchange.Reset{Hash: hash("r"), UserID: userID, Mark: hash("m"), CreatedAt: now, ExpiresAt: later}))
	h.Must(h.DB.Factors().SetAuthenticatorApp(ctx, people.AuthenticatorApp{UserID: userID, Sealed: hash("a"), CreatedAt: now}))
	h.Must(h.DB.Factors().SetRecoveryCodes(ctx, userID, [][]byte{hash("1"), hash("2")}))
	h.Must(h.DB.People().PutDevice(ctx, people.Device{Hash: hash("d"), UserID: userID, LastUsedAt: now, ExpiresAt: later}, 5))
	_, err := h.DB.People().Warn(ctx, userID, now, now.Add(-time.Hour))
	h.Must(err)
	h.Must(h.DB.InTx(ctx, func(ctx context.Context) error {
		_, err := h.DB.SenderStarts().AddStart(ctx, userID, now, senders.StartLimit{Most: 5, Within: time.Hour})
		return err
	}))
	h.Must(h.DB.Invitations().InsertInvitation(ctx, members.Invitation{
		ID: core.NewID(), OrgID: org, Hash: hash("i"), Email: "new@example.org", Role: members.PlainMember, InvitedBy: userID, CreatedAt: now, ExpiresAt: later,
	}))
	for _, statement := range []string{
		`INSERT INTO verified_senders (org_id, id, owner, email, address, start_id, code_expires_at, wrong_codes, created_at) VALUES ($1, $2, $3, 'a', $4, 'x', 0, 0, 0)`,
		`INSERT INTO domainauth_subscriptions (org_id, domain_id, user_id, alerts) VALUES ($1, $2, $3, $4 <> '')`,
		`INSERT INTO domainauth_notices (org_id, id, domain_id, user_id, kind, day, subject, plain, html, attempts, created_at) VALUES ($1, $2, 'd', $3, $4, 0, '', '', '', 0, 0)`,
	} {
		_, err := h.DB.Writer().ExecContext(ctx, statement, org, core.NewID(), userID, userID)
		h.Must(err)
	}
}
