package people

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwords"
)

// The longest durations of a session: SessionLifetime from the sign-in, and SessionIdle
// from the last request.
const (
	SessionLifetime = 12 * time.Hour
	SessionIdle     = 2 * time.Hour
)

// touchAfter is the age of a session's stored LastSeenAt from which the next request writes
// it again. The stored LastSeenAt can be older than the last request by up to this time. So
// an idle session may end too early by up to this time.
const touchAfter = time.Minute

// App is the surface of the dashboard's pages, for audit events of actions on these pages.
const App core.Surface = "app"

// SessionsConfig has the dependencies of [Sessions]. All fields are required, except
// PasswordCost. Attempts may be nil in a process that signs no person in.
type SessionsConfig struct {
	Users    UserStore
	Sessions SessionStore
	// Factors and Passkeys are read to find whether a person has a second factor.
	Factors  FactorStore
	Passkeys PasskeyStore
	Members  Memberships
	Orgs     access.Orgs
	Audit    access.AuditAppender
	// Attempts limits guessing. Only sign-ins use it.
	Attempts Attempts
	Tx       core.Transactor
	Clock    core.Clock
	// PasswordCost is the cost of new password hashes. The product leaves it zero.
	PasswordCost passwords.Cost
}

// Attempts limits guessing at passwords; core/attempts implements it.
type Attempts interface {
	// Admit counts an attempt to sign in with a password. It fails with rate_limited after
	// too many attempts, whether or not the address exists.
	Admit(ctx context.Context, in SignInRequest) error
	// AdmitFrom counts an attempt of this client to sign in with a passkey, for which no
	// email address is entered. It fails with rate_limited after too many attempts.
	AdmitFrom(client string) error
	// ClearFailures clears the counts of sign-in attempts from one network for one address.
	// It is called after a right password.
	ClearFailures(in SignInRequest)
	// CountFailure counts a wrong password. It does the same work whether or not the address
	// exists.
	CountFailure(ctx context.Context, in SignInRequest)
}

// Sessions signs people in and out. It is safe for use by several goroutines.
type Sessions struct {
	SessionsConfig
	// hashing limits the number of passwords that are hashed at the same time.
	hashing chan struct{}
	// decoy is the hash with which a password for an unknown address is compared, so that
	// the refusal takes as long as for a known address.
	decoy string
}

// NewSessions returns a Sessions.
func NewSessions(cfg SessionsConfig) *Sessions {
	return &Sessions{
		SessionsConfig: cfg,
		hashing:        make(chan struct{}, hashesAtOnce),
		decoy:          cfg.PasswordCost.Decoy(),
	}
}

// Visitor is a person who is signed in, with the session, as stored at the time of the
// request.
type Visitor struct {
	Session Session
	User    access.User
	Member  members.Member // membership in the organization of the session
	Org     core.Org       // the organization of the session
	// secret is the value of the session's cookie. It is also the key with which form tokens
	// are computed, and is never shown.
	secret string
}

// unpadded is Base32 (RFC 4648 section 6) without padding. Authenticator apps and forms use
// it.
var unpadded = base32.StdEncoding.WithPadding(base32.NoPadding)

// FormToken returns a token that protects a form against cross-site requests. The token is
// valid only for this session, its present organization, and one form. The parameter
// question identifies the form.
func (v Visitor) FormToken(question string) string {
	mac := hmac.New(sha256.New, []byte(v.secret))
	mac.Write([]byte("mailhelm form 1\x00" + v.Session.OrgID + "\x00" + question))
	return unpadded.EncodeToString(mac.Sum(nil))
}

// FormTokenMatches reports whether token is the result of [Visitor.FormToken] for question,
// the text that identifies the form. It compares in constant time.
func (v Visitor) FormTokenMatches(token, question string) bool {
	return hmac.Equal([]byte(token), []byte(v.FormToken(question)))
}

var errNoSession = errors.New("no such session, or it has ended")

// Current returns the visitor with the session's secret, and updates the session's
// LastSeenAt. It fails with invalid_key if the session is unknown, has ended or awaits a
// second factor. If the person has left the organization of the session, it moves the
// session to the person's first organization.
func (s *Sessions) Current(ctx context.Context, secret string) (Visitor, error) {
	now := s.Clock()
	session, err := s.find(ctx, secret, now)
	if err != nil {
		return Visitor{}, err
	}
	member, err := s.memberOf(ctx, session)
	if err != nil {
		return Visitor{}, err
	}
	if member.OrgID != session.OrgID || now.Sub(session.LastSeenAt) >= touchAfter {
		session, member, err = s.touch(ctx, secret, session.OrgID, member)
		if err != nil {
			return Visitor{}, err
		}
	}
	user, err := s.Users.UserByID(ctx, session.UserID)
	if err != nil {
		return Visitor{}, signedOut(err)
	}
	if user.DisabledAt != nil {
		return Visitor{}, signedOut(nil)
	}
	org, err := s.Orgs.Org(ctx, session.OrgID)
	if err != nil {
		return Visitor{}, fmt.Errorf("organization of a session: %w", err)
	}
	return Visitor{Session: session, User: user, Member: member, Org: org, secret: secret}, nil
}

// touch stores that the session was used now, and moves it from the organization orgID to
// the member's. If another request has moved the session in between, it stays where that
// request moved it. touch returns the session and the membership in its organization.
func (s *Sessions) touch(ctx context.Context, secret, orgID string, member members.Member) (Session, members.Member, error) {
	session, err := s.change(ctx, secret, func(fresh *Session) {
		if fresh.OrgID == orgID {
			fresh.OrgID = member.OrgID
		}
	})
	if err == nil && session.OrgID != member.OrgID {
		member, err = s.memberOf(ctx, session)
	}
	return session, member, err
}

// Organizations returns the organizations to which a person may switch, in order of their
// names.
func (s *Sessions) Organizations(ctx context.Context, userID string) ([]core.Org, error) {
	orgs, err := s.Members.OrganizationsOf(ctx, userID)
	if err != nil {
		return nil, fmt.Errorf("organizations of a person: %w", err)
	}
	return orgs, nil
}

// SwitchOrg moves a session to another organization of the person. It fails with not_found
// if the person is not a member of it, and with invalid_key if the session has ended.
func (s *Sessions) SwitchOrg(ctx context.Context, secret, orgID string) error {
	session, err := s.find(ctx, secret, s.Clock())
	if err != nil {
		return err
	}
	if !core.IsID(orgID) {
		return core.NotFound("membership")
	}
	if _, err := s.Members.Member(ctx, orgID, session.UserID); err != nil {
		return err
	}
	_, err = s.change(ctx, secret, func(fresh *Session) { fresh.OrgID = orgID })
	return err
}

// withPerson calls do in a transaction that locks the person, so that concurrent changes of
// one person run one after another. It fails with invalid_key if the person does not exist.
func (s *Sessions) withPerson(ctx context.Context, userID string, do func(context.Context) error) error {
	return s.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := s.Users.HoldUser(ctx, userID); err != nil {
			return signedOut(err)
		}
		return do(ctx)
	})
}

// find returns a session. It fails with invalid_key if the session is unknown, has ended or
// awaits a second factor.
func (s *Sessions) find(ctx context.Context, secret string, now time.Time) (Session, error) {
	session, err := s.readSession(ctx, secret, now)
	if err == nil && session.AwaitsSecondFactor {
		return Session{}, signedOut(nil)
	}
	return session, err
}

// readSession returns a session, even one that awaits its second factor. It fails with
// invalid_key if the session is unknown, or was idle or open too long.
func (s *Sessions) readSession(ctx context.Context, secret string, now time.Time) (Session, error) {
	if !access.IsLink(secret) {
		return Session{}, signedOut(nil)
	}
	session, err := s.Sessions.Session(ctx, access.HashSecret(secret), now)
	if err != nil {
		return Session{}, signedOut(err)
	}
	if !now.Before(endOf(session.CreatedAt, session.LastSeenAt)) {
		return Session{}, signedOut(nil)
	}
	return session, nil
}

// change reads a session in a transaction and calls the function in the parameter with,
// which modifies the session. It then stores the session with the present time as
// LastSeenAt. The session is read again because the caller's copy may be out of date.
func (s *Sessions) change(ctx context.Context, secret string, with func(*Session)) (Session, error) {
	var changed Session
	err := s.Tx.InTx(ctx, func(ctx context.Context) error {
		now := s.Clock()
		session, err := s.find(ctx, secret, now)
		if err != nil {
			return err
		}
		with(&session)
		session.LastSeenAt, session.ExpiresAt = now, endOf(session.CreatedAt, now)
		changed = session
		if err := s.Sessions.TouchSession(ctx, session); err != nil {
			return signedOut(err)
		}
		return nil
	})
	return changed, err
}

// memberOf returns the membership in the organization of the session. If the person has
// left that organization, it returns the person's first membership.
func (s *Sessions) memberOf(ctx context.Context, session Session) (members.Member, error) {
	member, err := s.Members.Member(ctx, session.OrgID, session.UserID)
	if !core.IsNotFound(err) {
		return member, err
	}
	return s.firstMembership(ctx, session.UserID)
}

// firstMembership returns the membership in the person's first organization by name. It
// fails with invalid_key if the person has none.
func (s *Sessions) firstMembership(ctx context.Context, userID string) (members.Member, error) {
	memberships, err := s.Members.MembershipsOf(ctx, userID)
	if err != nil {
		return members.Member{}, fmt.Errorf("memberships: %w", err)
	}
	if len(memberships) == 0 {
		return members.Member{}, signInError(errNoMembership)
	}
	return memberships[0], nil
}

// endOf returns the time when a session ends. created is when it began, and seen is when it
// was last used.
func endOf(created, seen time.Time) time.Time {
	end, idle := created.Add(SessionLifetime), seen.Add(SessionIdle)
	if idle.Before(end) {
		return idle
	}
	return end
}

// signedOut converts the result of reading a session. For nil and not_found it returns
// invalid_key, the error for a session that does not exist or has ended. It wraps any other
// error.
func signedOut(err error) error {
	if err == nil || core.IsNotFound(err) {
		return &core.Error{
			Code: core.CodeInvalidKey, Message: "You are not signed in, or the session has ended.",
			Next: "Sign in.", Err: errNoSession,
		}
	}
	return fmt.Errorf("session: %w", err)
}
