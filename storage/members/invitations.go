package members

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// invitationStore is [members.InvitationStore].
type invitationStore struct{ db *engine.DB }

var _ members.InvitationStore = invitationStore{}

// invitationRow is an open invitation to an organization. The database has only the hash of
// the secret in the invitation's link. Permissions is a JSON array.
type invitationRow struct {
	ID          string       `db:"id"`
	OrgID       string       `db:"org_id"`
	Hash        []byte       `db:"hash"`
	Email       string       `db:"email"`
	Role        members.Role `db:"role"`
	Permissions string       `db:"permissions"`
	InvitedBy   string       `db:"invited_by"`
	CreatedAt   engine.Time  `db:"created_at"`
	ExpiresAt   engine.Time  `db:"expires_at"`
}

// invitationColumns lists the columns in the order of the parameters of insertInvitation.
const invitationColumns = `org_id, id, hash, email, role, permissions, invited_by, created_at, expires_at`

var (
	// insertInvitation inserts an invitation. It changes nothing if another invitation has
	// the same id or the same hash.
	insertInvitation = engine.Register("insert invitation", `
		INSERT INTO invitations (`+invitationColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT DO NOTHING`)
	// invitationsOf selects all open invitations. It needs no LIMIT, because core/members
	// limits their number.
	invitationsOf = engine.Register("invitations of org", `
		SELECT `+invitationColumns+` FROM invitations WHERE org_id = $1 ORDER BY created_at DESC, id DESC`)
	// invitationByHash selects an invitation, even if it has expired; the caller checks
	// that.
	invitationByHash = engine.RegisterPoint("invitation by hash", `SELECT `+invitationColumns+` FROM invitations WHERE hash = $1`)
	deleteInvitation = engine.Register("delete invitation", `DELETE FROM invitations WHERE org_id = $1 AND id = $2`)
	// deleteInvitationsBy deletes the open invitations that a member has sent. It runs when
	// that member is removed.
	deleteInvitationsBy = engine.Register("delete invitations by a user", `
		DELETE FROM invitations WHERE org_id = $1 AND invited_by = $2`)
)

func (s invitationStore) InsertInvitation(ctx context.Context, i members.Invitation) error {
	permissions, err := engine.JSONParameter(i.Permissions)
	if err != nil {
		return err
	}
	taken := core.Conflict("An invitation with this id or secret exists already.", "Mint another.")
	return s.db.Insert(ctx, taken, insertInvitation, i.OrgID, i.ID, i.Hash, i.Email, string(i.Role), permissions,
		i.InvitedBy, engine.At(i.CreatedAt), engine.At(i.ExpiresAt))
}

func (s invitationStore) Invitations(ctx context.Context, orgID string) ([]members.Invitation, error) {
	return engine.ListParsed(ctx, s.db, invitationRow.invitation, invitationsOf, orgID)
}

func (s invitationStore) InvitationByHash(ctx context.Context, hash []byte) (members.Invitation, error) {
	row, err := engine.One[invitationRow](ctx, s.db, "invitation", invitationByHash, hash)
	if err != nil {
		return members.Invitation{}, err
	}
	return row.invitation()
}

func (s invitationStore) DeleteInvitation(ctx context.Context, orgID, id string) error {
	return s.db.Change(ctx, "invitation", deleteInvitation, orgID, id)
}

func (s invitationStore) DeleteInvitationsBy(ctx context.Context, orgID, userID string) (int, error) {
	return s.db.Exec(ctx, deleteInvitationsBy, orgID, userID)
}

// invitation converts the row to a members.Invitation. It returns an error if the
// permissions do not parse.
func (r invitationRow) invitation() (members.Invitation, error) {
	permissions, err := engine.DecodeList[members.Permission](r.Permissions)
	if err != nil {
		return members.Invitation{}, fmt.Errorf("storage: permissions of invitation %s: %w", r.ID, err)
	}
	return members.Invitation{
		ID: r.ID, OrgID: r.OrgID, Hash: r.Hash, Email: r.Email, Role: r.Role, Permissions: permissions,
		InvitedBy: r.InvitedBy, CreatedAt: r.CreatedAt.Time(), ExpiresAt: r.ExpiresAt.Time(),
	}, nil
}
