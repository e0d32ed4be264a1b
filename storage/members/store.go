package members

import (
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// New returns the store of memberships on the database.
func New(db *engine.DB) members.Store { return memberStore{db} }

// NewOrgStore returns the store of organizations on the database.
func NewOrgStore(db *engine.DB) members.OrgStore { return orgStore{db} }

// NewInvitationStore returns the store of open invitations on the database.
func NewInvitationStore(db *engine.DB) members.InvitationStore { return invitationStore{db} }
