package installation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/shared"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/signing"
)

// Operator returns the functions that create and change organizations, people and credentials.
// The audit log names the operator as the actor.
func (s *Session) Operator() provision.Provisioner {
	return provision.Provisioner{
		Stores: s.DB.Access(), Orgs: s.DB.Orgs(), Users: s.DB.Users(), Members: s.DB.Members(), Tx: s.DB, Clock: s.Config.Clock,
		Actor: access.ActorOf(access.Operator),
	}
}

// WithOrg opens the database, finds the organization whose slug or id is ref, and calls the
// function do. It fails if there is no such organization.
func (t Target) WithOrg(p *cli.Program, ref string, do func(context.Context, *Session, core.Org) error) error {
	return t.With(p, func(ctx context.Context, s *Session) error {
		org, err := s.Org(ctx, ref)
		if err != nil {
			return err
		}
		return do(ctx, s, org)
	})
}

// PersonByEmail returns the person who signs in with this email address. It fails if there
// is no such person. It searches the whole installation, because people are not bound to
// one organization.
func (s *Session) PersonByEmail(ctx context.Context, email string) (access.User, error) {
	user, err := s.DB.Users().UserByEmail(ctx, email)
	if NotFound(err) {
		return access.User{}, errors.New("there is no person with this address")
	}
	return user, err
}

// Record appends an event to the organization's audit log. It stores a nil detail as an
// empty JSON object. If ctx has a transaction, it writes the event in that transaction.
func (s *Session) Record(ctx context.Context, orgID, action string, detail map[string]any) error {
	if detail == nil {
		detail = map[string]any{}
	}
	actor := access.ActorOf(access.Operator)
	text, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("audit detail of %s: %w", action, err)
	}
	return s.DB.Audit().AppendAudit(ctx, access.AuditEvent{
		ID: core.NewID(), OrgID: orgID, OccurredAt: s.Config.Clock(), Action: action,
		ActorKind: actor.Kind, ActorID: actor.ID, SubjectID: orgID, Detail: string(text),
	})
}

// Published returns the public addresses of the server that started last on the database. If
// the database has none, it returns those in the data folder, which an older server stored.
func (s *Session) Published(ctx context.Context) config.Public {
	if public, err := shared.Published(ctx, s.DB.Installation()); err == nil && public != (config.Public{}) {
		return public
	}
	return s.Config.Published()
}

// MasterKey returns the server's master key with these settings. It fails if the key file is
// missing. It never creates a key, because a new one could not decrypt the server's data.
func (s *Session) MasterKey(settings config.Master) (signing.MasterKey, error) {
	cfg := s.Config
	cfg.MasterKey, cfg.MasterKeyPath = settings.MasterKey, settings.MasterKeyPath
	key, err := cfg.ReadMasterKey()
	if errors.Is(err, fs.ErrNotExist) {
		return signing.MasterKey{}, fmt.Errorf("there is no master key in %s: name the server's data folder with --data or the key's file with --master-key-file, or set MAILHELM_MASTER_KEY", cfg.MasterKeyFile())
	}
	if err == nil {
		err = key.Follow(s.Ctx, s.DB.MasterKeys(), cfg.Clock)
	}
	if errors.Is(err, signing.ErrForeignKey) {
		err = fmt.Errorf("the master key %s: %w: use the one of the running servers", cfg.MasterKeySource(), err)
	}
	return key, err
}
