package git

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// requestIdleSync locks the connection, so a sync that begins afterwards sees the adoption.
	requestIdleSync = engine.Register("request git sync unless one runs", `
		UPDATE git_connections SET wanted = wanted + 1 WHERE org_id = $1 AND claimed_until <= $2`)
	adoptions      = engine.Register("git adoptions", `SELECT kind, key, adopted_at FROM git_adoptions WHERE org_id = $1 ORDER BY kind, key`)
	insertAdoption = engine.Register("insert git adoption", `
		INSERT INTO git_adoptions (org_id, kind, key, adopted_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`)
	deleteAdoption = engine.Register("delete git adoption", `DELETE FROM git_adoptions WHERE org_id = $1 AND kind = $2 AND key = $3`)
)

// adopted has the statements that make one definition of the repository a managed one.
var adopted = map[definitions.Kind]*engine.Statement{
	definitions.KindSegment: engine.Register("adopt git segment", `
		UPDATE segments SET origin = 'managed', source_path = '' WHERE org_id = $1 AND key = $2 AND origin = 'git' AND status <> 'archived'`),
	definitions.KindWorkflow: engine.Register("adopt git workflow", `
		UPDATE workflows SET origin = 'managed', source_path = '', source_url = '' WHERE org_id = $1 AND key = $2 AND origin = 'git' AND status <> 'archived'`),
}

// adoptionRow is an adoption.
type adoptionRow struct {
	Kind      string      `db:"kind"`
	Key       string      `db:"key"`
	AdoptedAt engine.Time `db:"adopted_at"`
}

var _ git.Adoptions = Store{}

func (s Store) Adopt(ctx context.Context, orgID string, a git.Adoption) error {
	statement, ok := adopted[a.Kind]
	if !ok {
		return core.NotFound("definition")
	}
	return s.db.InTx(ctx, func(ctx context.Context) error {
		requested, err := s.db.Exec(ctx, requestIdleSync, orgID, engine.At(a.AdoptedAt))
		if err != nil {
			return err
		}
		if requested == 0 {
			if _, err := s.Connection(ctx, orgID); err != nil {
				return err
			}
			return core.Conflict("The repository is being read.", "Try again in some seconds.")
		}
		if err := s.db.Change(ctx, a.Kind.Noun(), statement, orgID, a.Key); err != nil {
			return err
		}
		_, err = s.db.Exec(ctx, insertAdoption, orgID, string(a.Kind), a.Key, engine.At(a.AdoptedAt))
		return err
	})
}

func (s Store) Adopted(ctx context.Context, orgID string) ([]git.Adoption, error) {
	return engine.ListParsed(ctx, s.db, func(r adoptionRow) (git.Adoption, error) {
		return git.Adoption{Ref: definitions.Ref{Kind: definitions.Kind(r.Kind), Key: r.Key}, AdoptedAt: r.AdoptedAt.Time()}, nil
	}, adoptions, orgID)
}

func (s Store) EndAdoption(ctx context.Context, orgID string, ref definitions.Ref) error {
	return s.db.Change(ctx, ref.Kind.Noun(), deleteAdoption, orgID, string(ref.Kind), ref.Key)
}
