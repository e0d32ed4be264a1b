package bearer

import "github.com/mailhelm/mailhelm/core/access"

// Apply removes the cached principals that the change may have made out of date. The next
// request with one of their credentials reads the store.
func (a *Authenticator) Apply(c access.Change) {
	switch c.Kind {
	case access.CredentialChanged:
		a.Forget(c.ID)
	case access.GrantChanged:
		a.ForgetGrant(c.ID)
	case access.TokenDenied:
		a.ForgetToken(c.ID)
	case access.MemberChanged:
		a.ForgetUser(c.ID)
	case access.OrgChanged:
		a.ForgetOrg(c.ID)
	case access.SigningKeyChanged:
		a.ForgetTokens()
	default:
		a.principals.Remove(func(cachedPrincipal) bool { return true })
	}
}
