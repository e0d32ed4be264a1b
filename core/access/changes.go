package access

import "strings"

// Change says that something stored was changed which may end or narrow
// credentials. ID is what the kind is about; "" of [Anything].
type Change struct {
	Kind ChangeKind
	ID   string
}

// ChangeKind is what was changed.
type ChangeKind string

// The kinds of change.
const (
	CredentialChanged ChangeKind = "credential"  // an API key or a client
	GrantChanged      ChangeKind = "grant"       // a person's authorization
	TokenDenied       ChangeKind = "token"       // one access token
	MemberChanged     ChangeKind = "user"        // what a person may do in some organization
	OrgChanged        ChangeKind = "org"         // the plan, the settings, or which clients are kept out
	SigningKeyChanged ChangeKind = "signing_key" // the keys that sign access tokens
	// Anything may have changed: messages may have been missed.
	Anything ChangeKind = "anything"
)

// ParseChange reads a change as the database tells it, "kind id". What it does not
// know it takes for [Anything]: a newer program may tell more.
func ParseChange(text string) Change {
	kind, id, _ := strings.Cut(text, " ")
	switch k := ChangeKind(kind); k {
	case CredentialChanged, GrantChanged, TokenDenied, MemberChanged, OrgChanged, SigningKeyChanged:
		if id != "" {
			return Change{k, id}
		}
	}
	return Change{Kind: Anything}
}

// Apply drops what this process remembers that the change may have ended. The
// next request with such a credential asks the store.
func (a *Authenticator) Apply(c Change) {
	switch c.Kind {
	case CredentialChanged:
		a.Forget(c.ID)
	case GrantChanged:
		a.ForgetGrant(c.ID)
	case TokenDenied:
		a.ForgetToken(c.ID)
	case MemberChanged:
		a.ForgetUser(c.ID)
	case OrgChanged:
		a.ForgetOrg(c.ID)
	case SigningKeyChanged:
		a.ForgetTokens()
	default:
		a.principals.Remove(func(known) bool { return true })
	}
}
