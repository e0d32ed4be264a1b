package core

import (
	"errors"
	"time"
)

// DeletionWait is how long a deleted organization can be restored. After it, all data of the
// organization is erased.
const DeletionWait = 7 * 24 * time.Hour

// IsDeleted reports whether the organization was deleted. It can still be restored until
// EraseAt.
func (o Org) IsDeleted() bool { return o.DeletedAt != nil }

// EraseAt returns the time from which the data of a deleted organization is erased. It returns
// the zero time for other organizations.
func (o Org) EraseAt() time.Time {
	if o.DeletedAt == nil {
		return time.Time{}
	}
	return o.DeletedAt.Add(DeletionWait)
}

var errOrgDeleted = errors.New("the organization was deleted")

// OrgDeleted returns the refusal of a credential of a deleted organization. Only a caller with
// the secret of the credential may see it, because it has the name of the organization.
func OrgDeleted(o Org) *Error {
	return &Error{
		Code: CodeInvalidKey, Message: "The organization " + o.Slug + " was deleted.",
		Next: "An owner can restore it on the dashboard until " + o.EraseAt().UTC().Format("2 January 2006 15:04 UTC") + ".", Err: errOrgDeleted,
	}
}
