package members

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// memberStore is [members.Store].
type memberStore struct{ db *engine.DB }

// memberRow is the membership of one user in one organization. Permissions is a JSON array.
type memberRow struct {
	OrgID       string       `db:"org_id"`
	UserID      string       `db:"user_id"`
	Role        members.Role `db:"role"`
	Permissions string       `db:"permissions"`
}

var (
	// memberByID selects the membership of a user in an organization, by primary key.
	memberByID = engine.RegisterPoint("member", `
		SELECT org_id, user_id, role, permissions FROM members WHERE org_id = $1 AND user_id = $2`)
	membersOfOrg = engine.Register("members of an organization", `
		SELECT org_id, user_id, role, permissions FROM members WHERE org_id = $1 ORDER BY created_at, user_id`)
	// membershipsOf selects the memberships of a user, sorted by name of the organization, those
	// in deleted organizations last.
	// The cast makes both engines compare names by their bytes.
	membershipsOf = engine.Register("memberships of a user", `
		SELECT m.org_id, m.user_id, m.role, m.permissions FROM members AS m JOIN orgs AS o ON o.id = m.org_id
		WHERE m.user_id = $1 ORDER BY CASE WHEN o.deleted_at IS NULL THEN 0 ELSE 1 END, lower(CAST(o.name AS bytetext)), o.id`)
	organizationsOf = engine.Register("organizations of a user", `
		SELECT `+orgColumns+` FROM orgs WHERE id IN (SELECT m.org_id FROM members AS m WHERE m.user_id = $1)
		ORDER BY CASE WHEN deleted_at IS NULL THEN 0 ELSE 1 END, lower(CAST(name AS bytetext)), id`)
	// setMember inserts a membership or replaces its role and permissions. It keeps the time
	// at which the member joined.
	setMember = engine.Register("set member", `
		INSERT INTO members (org_id, user_id, role, permissions, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org_id, user_id) DO UPDATE SET role = excluded.role, permissions = excluded.permissions`)
	holdMembers  = engine.Register("hold members", `SELECT id FROM orgs WHERE id = $1 /*pg FOR NO KEY UPDATE*/`)
	removeMember = engine.Register("remove member", `DELETE FROM members WHERE org_id = $1 AND user_id = $2`)
	// addMember inserts a membership. It changes nothing if the user is a member already, so
	// it never changes a role.
	addMember = engine.Register("add member", `
		INSERT INTO members (org_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT DO NOTHING`)
)

func (s memberStore) Member(ctx context.Context, orgID, userID string) (members.Member, error) {
	row, err := engine.One[memberRow](ctx, s.db, "member", memberByID, orgID, userID)
	if err != nil {
		return members.Member{}, err
	}
	return row.member()
}

func (s memberStore) Members(ctx context.Context, orgID string) ([]members.Member, error) {
	return s.members(ctx, membersOfOrg, orgID)
}

// HoldMembers locks the members of an organization until the transaction ends, so that
// members cannot be added or removed concurrently. It locks the organization's row, because
// rows that do not exist yet cannot be locked. On SQLite no other transaction can write
// anyway. It fails with NotFound if the organization does not exist.
func (s memberStore) HoldMembers(ctx context.Context, orgID string) error {
	found, err := engine.Values[string](ctx, s.db, holdMembers, orgID)
	if err == nil && len(found) == 0 {
		return core.NotFound("organization")
	}
	return err
}

func (s memberStore) MembershipsOf(ctx context.Context, userID string) ([]members.Member, error) {
	return s.members(ctx, membershipsOf, userID)
}

func (s memberStore) OrganizationsOf(ctx context.Context, userID string) ([]core.Org, error) {
	return engine.ListAs(ctx, s.db, orgRow.org, organizationsOf, userID)
}

// members returns the memberships that the statement selects. id is the id of an
// organization or of a user, depending on the statement.
func (s memberStore) members(ctx context.Context, by *engine.Statement, id string) ([]members.Member, error) {
	return engine.ListParsed(ctx, s.db, memberRow.member, by, id)
}

func (s memberStore) AddMember(ctx context.Context, orgID, userID, role string) error {
	taken := core.Conflict("The user is a member of this organization already.", "Change the role or the permissions of the member instead.")
	return s.db.Insert(ctx, taken, addMember, orgID, userID, role, engine.At(s.db.Now()))
}

// SetMember adds a member or replaces the member's role and permissions. The caller must
// check that the organization keeps an owner.
func (s memberStore) SetMember(ctx context.Context, m members.Member) error {
	permissions, err := engine.JSONParameter(m.Permissions)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, setMember, m.OrgID, m.UserID, string(m.Role), permissions, engine.At(s.db.Now()))
	return err
}

func (s memberStore) RemoveMember(ctx context.Context, orgID, userID string) error {
	return s.db.Change(ctx, "member", removeMember, orgID, userID)
}

// member converts the row to a members.Member. It returns an error if the permissions do
// not parse.
func (r memberRow) member() (members.Member, error) {
	permissions, err := engine.DecodeList[members.Permission](r.Permissions)
	if err != nil {
		return members.Member{}, fmt.Errorf("storage: permissions of member %s: %w", r.UserID, err)
	}
	return members.Member{OrgID: r.OrgID, UserID: r.UserID, Role: r.Role, Permissions: permissions}, nil
}
