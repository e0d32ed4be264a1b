package frame

import (
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
)

// IsScopeBuilt reports whether an operation needs the scope. Pages offer no other scopes,
// because a credential could do nothing with them.
func (f *Frame) IsScopeBuilt(s core.Scope) bool { return f.Built.Has(s) }

// IsPermissionBuilt reports whether a page or an operation needs the permission. Pages
// offer no other permissions, because a member could do nothing with them.
func (f *Frame) IsPermissionBuilt(p members.Permission) bool {
	if f.needed[p] {
		return true
	}
	for _, s := range f.Built {
		if members.PermissionFor(s) == p {
			return true
		}
	}
	return false
}
