package senders

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/letters"
)

// Config configures [Senders]. All fields are required, unless their comments define what nil
// means.
type Config struct {
	Store      Store
	Starts     StartStore
	Transactor core.Transactor
	Queue      jobs.Queue
	// Letters sends the codes. nil means that the operator has configured no mail server; then
	// no address can be verified.
	Letters letters.Sender
	Orgs    Orgs
	People  People
	// CodeKey is the key of the hashes of codes, [CodeKeyBytes] long. All processes on one
	// database must have the same key.
	CodeKey []byte
	Clock   core.Clock
}

// Orgs reads organizations.
type Orgs interface {
	Org(ctx context.Context, id string) (core.Org, error)
}

// People reads people.
type People interface {
	// UserByID fails with core.CodeNotFound for an unknown id.
	UserByID(ctx context.Context, id string) (access.User, error)
}

// Senders has the operations on verified senders.
type Senders struct{ Config }

// New returns a Senders.
func New(cfg Config) *Senders { return &Senders{cfg} }

// Operations returns the operations of this package, in the order of the operation catalogue.
func (s *Senders) Operations() []core.Operation {
	return []core.Operation{s.list(), s.create(), s.confirm(), s.delete()}
}

// ownerOf returns the owner of the claims of a caller. It fails with
// core.CodeValidationFailed for an application that acts for no person.
func ownerOf(p core.Principal) (string, error) {
	if p.Credential.Kind == core.OAuthClient && p.UserID == "" {
		return "", &core.Error{
			Code: core.CodeValidationFailed, Message: "Verified senders belong to a person, and this access token identifies none: it is of an application that acts for itself.",
			Fields: []core.FieldError{{Field: "authorization", Reason: "must identify a person"}},
			Next:   "Use an API key, or an access token that a person granted. A repetition with this token fails again.",
		}
	}
	return p.Owner(), nil
}

// own returns the caller's claim with the id. In a transaction it locks the claim. It fails
// with core.CodeNotFound also for a claim of another owner.
func (s *Senders) own(ctx context.Context, p core.Principal, id string) (Claim, error) {
	owner, err := ownerOf(p)
	if err != nil {
		return Claim{}, err
	}
	if id = strings.ToLower(id); !core.IsID(id) {
		return Claim{}, errNoClaim()
	}
	claim, err := s.Store.Claim(ctx, p.Org.ID, id)
	if err == nil && claim.Owner != owner {
		err = errNoClaim()
	}
	return claim, err
}

// errNoClaim is the error for a claim that does not exist or belongs to another owner.
func errNoClaim() error { return core.NotFound("verified sender") }
