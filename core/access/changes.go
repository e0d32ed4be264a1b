package access

import "strings"

// Change is a stored change that may end credentials or reduce their scopes, or that changes settings which
// processes keep for some seconds. ID is the id of the changed record; it is "" for [Anything].
type Change struct {
	Kind ChangeKind
	ID   string
}

// ChangeKind is the kind of a changed record.
type ChangeKind string

// The kinds of changed records.
const (
	CredentialChanged ChangeKind = "credential"  // an API key or an OAuth client
	GrantChanged      ChangeKind = "grant"       // the grant of a person to an OAuth client
	TokenDenied       ChangeKind = "token"       // one access token, which was put on the denylist
	MemberChanged     ChangeKind = "user"        // a changed membership of a user in an organization
	OrgChanged        ChangeKind = "org"         // a changed organization: its tier, settings, blocked clients, sending account, webhook endpoints or bucket of received mail
	SigningKeyChanged ChangeKind = "signing_key" // the keys that sign access tokens
	// Anything means that notifications may have been lost: any record may have changed.
	Anything ChangeKind = "anything"
)

// ParseChange parses a notification from the database, in the form "kind id". It returns
// [Anything] for an unknown kind, which a newer version of the program may send.
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
