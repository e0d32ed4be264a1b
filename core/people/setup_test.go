package people_test

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people/peopletest"
)

const (
	email     = peopletest.Email
	password  = peopletest.Password
	otherSide = peopletest.OtherSide
)

var start = peopletest.Start

// line has the parts of an audit event that the tests compare.
type line struct{ Action, Actor, Subject, Detail string }

// auditLines returns the audit events of the first organization, oldest first.
func (e *factored) auditLines() []line {
	e.T.Helper()
	events, err := e.DB.Audit().FindAudit(e.T.Context(), e.Orgs[0].ID, access.AuditFilter{Limit: 100})
	e.Must(err)
	var lines []line
	for _, event := range events {
		lines = append([]line{{event.Action, event.ActorKind + " " + event.ActorID, event.SubjectID, event.Detail}}, lines...)
	}
	return lines
}

// before is a core.Transactor that calls the function in its field happens before each
// transaction.
type before struct {
	core.Transactor
	happens func()
}

func (b before) InTx(ctx context.Context, do func(context.Context) error) error {
	b.happens()
	return b.Transactor.InTx(ctx, do)
}
