package storage_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage"
)

// ownPeople gives the organization o.org a member with a session, and another person's
// grant to an OAuth client. It also creates an invitation, tokens of the grant and a
// blocked client.
func (o *ownedObjects) ownPeople(t *testing.T, db *storage.DB) {
	t.Helper()
	o.member = members.Member{OrgID: o.org, UserID: newUser(t, db).ID, Role: members.PlainMember, Permissions: []members.Permission{members.MayViewContacts}}
	must(t, db.Members().SetMember(t.Context(), o.member))
	o.session = newSession(t, db, o.org, o.member.UserID)
	o.grant = newGrant(t, db, o.org)
	o.invited = newInvitation(t, db, o.org, o.member.UserID)
	o.refresh, o.code = newToken(t, db, o.grant), newCode(t, db, o.grant)
	o.blocked = "https://blocked.example/client.json"
	must(t, db.OpenClients().BlockClient(t.Context(), o.org, o.blocked, start))
}

func peopleCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"RevokeClient": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Clients().RevokeClient(t.Context(), org, o.client.ID, later(1))
		},
		"RevokeAPIKey": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Keys().RevokeAPIKey(t.Context(), org, o.apiKey.ID, later(1))
		},
		"FindAudit": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Audit().FindAudit(t.Context(), org, access.AuditFilter{Limit: 10})
		},
	}
}

func grantCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"Grant": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Grants().Grant(t.Context(), org, o.grant.ID)
		},
		"Grants": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Grants().Grants(t.Context(), org, access.GrantFilter{UserID: o.grant.UserID, Limit: 10})
		},
		"RevokeGrant": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Grants().RevokeGrant(t.Context(), org, o.grant.ID, later(1))
		},
		"RevokeGrantsOf": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Grants().RevokeGrantsOf(t.Context(), org, o.grant.ClientID, later(1))
		},
		"RevokeGrantsOfUser": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Grants().RevokeGrantsOfUser(t.Context(), org, o.grant.UserID, later(1))
		},
		"RotateRefreshToken": func(t *testing.T, db *storage.DB) (any, error) {
			next := nextToken(o.grant)
			next.OrgID = org
			outcome, err := db.Tokens().RotateRefreshToken(t.Context(), o.refresh.Hash, next, later(1))
			return outcome != access.Unknown, err
		},
	}
}

func blockCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"BlockClient": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.OpenClients().BlockClient(t.Context(), org, "https://mine.example/x", later(1))
		},
		"UnblockClient": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.OpenClients().UnblockClient(t.Context(), org, o.blocked)
		},
		"ClientBlocked": func(t *testing.T, db *storage.DB) (any, error) {
			return db.OpenClients().IsClientBlocked(t.Context(), org, o.blocked)
		},
		"BlockedClients": func(t *testing.T, db *storage.DB) (any, error) {
			return db.OpenClients().BlockedClients(t.Context(), org)
		},
	}
}

func memberCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"Member": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Members().Member(t.Context(), org, o.member.UserID)
		},
		"members.Store.Members": func(t *testing.T, db *storage.DB) (any, error) { return db.Members().Members(t.Context(), org) },
		"SetMember": func(t *testing.T, db *storage.DB) (any, error) {
			promoted := members.Member{OrgID: org, UserID: o.member.UserID, Role: members.Owner}
			// This call changes a membership in the caller's own organization, which is
			// allowed.
			return nil, db.Members().SetMember(t.Context(), promoted)
		},
		"RemoveMember": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Members().RemoveMember(t.Context(), org, o.member.UserID)
		},
	}
}

func invitationCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"Invitations": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Invitations().Invitations(t.Context(), org)
		},
		"DeleteInvitation": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Invitations().DeleteInvitation(t.Context(), org, o.invited.ID)
		},
		"DeleteInvitationsBy": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Invitations().DeleteInvitationsBy(t.Context(), org, o.member.UserID)
		},
	}
}
