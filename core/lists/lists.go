package lists

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Config configures the lists. All fields are required unless their comments say what nil
// means.
type Config struct {
	Store   Store
	Members MemberStore
	Clock   core.Clock

	// Deletes is called before lists are deleted, in the transaction of the deletion; an
	// error prevents it. nil means that nothing depends on lists.
	Deletes func(ctx context.Context, orgID string, listIDs []string) error
}

// Lists has the operations on static lists.
type Lists struct {
	Config
}

// New returns Lists with the configuration.
func New(cfg Config) *Lists { return &Lists{cfg} }

// Operations returns the operations, in the order of the catalogue.
func (l *Lists) Operations() []core.Operation {
	return []core.Operation{
		l.listsList(),
		l.listsCreate(),
		l.listsGet(),
		l.listsUpdate(),
		l.listsDelete(),
		l.listsMembers(),
		l.listsCheckMember(),
	}
}
