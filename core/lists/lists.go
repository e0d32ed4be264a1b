package lists

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Config configures [Lists]. All fields are required, except those whose comment gives nil
// a meaning.
type Config struct {
	Store   Store
	Members MemberStore
	Clock   core.Clock

	// Deletes is called with the ids of lists before they are deleted, in the transaction of
	// the deletion. An error prevents the deletion. nil means that nothing depends on lists.
	Deletes func(ctx context.Context, orgID string, listIDs []string) error
}

// Lists has the operations on static lists.
type Lists struct {
	Config
}

// New returns Lists that use the configuration.
func New(cfg Config) *Lists { return &Lists{cfg} }

// Operations returns the operations of this package, in the order of the operation
// catalogue.
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
