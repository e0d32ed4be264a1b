package git

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

// Adoption is a definition that the repository names and that is edited in Mailhelm instead: syncs leave
// it out. It ends when a person returns the definition to the repository, when the repository no
// longer names it, or when the connection is deleted.
type Adoption struct {
	definitions.Ref
	AdoptedAt time.Time
}

// Adoptions stores adoptions. Every method sees only the given organization, and takes part in the
// transaction of ctx.
type Adoptions interface {
	// Adopt makes a definition of the repository a managed one, remembers the adoption, and notes
	// that a sync is wanted. It fails with core.CodeNotFound without a connection, or if the
	// repository defines no such definition of a kind that [CanAdopt]. It fails with
	// core.CodeConflict while a sync runs: that sync could overwrite the definition.
	Adopt(ctx context.Context, orgID string, a Adoption) error
	// Adopted returns the adoptions, sorted by kind and key.
	Adopted(ctx context.Context, orgID string) ([]Adoption, error)
	// EndAdoption forgets an adoption. The definition stays managed. It fails with core.CodeNotFound
	// if there is no such adoption.
	EndAdoption(ctx context.Context, orgID string, ref definitions.Ref) error
}

// CanAdopt reports whether definitions of a kind can be adopted: segments and workflows. Operations on
// the other kinds refuse all changes of an organization with a repository, so a person could not edit
// an adopted definition of them.
func CanAdopt(kind definitions.Kind) bool {
	return kind == definitions.KindSegment || kind == definitions.KindWorkflow
}

// Adopt makes a definition of the repository a managed one, which syncs leave out from then on. It
// fails as Adoptions.Adopt does.
func (s Settings) Adopt(ctx context.Context, orgID string, ref definitions.Ref) error {
	if err := s.Adoptions.Adopt(ctx, orgID, Adoption{Ref: ref, AdoptedAt: s.Clock()}); err != nil {
		return err
	}
	return s.Queue.Enqueue(ctx, SyncArgs{OrgID: orgID})
}

// Return ends an adoption, and requests the sync that replaces the definition with that of the
// repository. Until then it stays managed, so nothing is lost if the repository no longer names it.
// Return fails with core.CodeNotFound if the definition is not adopted.
func (s Settings) Return(ctx context.Context, orgID string, ref definitions.Ref) error {
	if err := s.Adoptions.EndAdoption(ctx, orgID, ref); err != nil {
		return err
	}
	return s.RequestSync(ctx, orgID)
}
