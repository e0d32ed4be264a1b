package suppression

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Config has the dependencies of a Suppression. All fields are required.
type Config struct {
	Account    sending.Suppressions
	Store      Store
	RuleStore  RuleStore
	Transactor core.Transactor
	// Orgs returns the ids of all organizations, for [Suppression.RejudgeWorker].
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
}

// Suppression implements the operations of this package. It is a [messages.Recorder].
type Suppression struct {
	Config
	lists *accountLists
}

// New returns a Suppression.
func New(cfg Config) *Suppression {
	return &Suppression{Config: cfg, lists: newAccountLists(cfg.Account, cfg.Clock)}
}

// Operations returns the operations of this package, in the order of the operation
// catalogue.
func (s *Suppression) Operations() []core.Operation {
	return []core.Operation{
		s.suppressionsCheckAddress(), s.suppressionsList(), s.suppressionsGet(),
		s.undeliverableList(), s.undeliverableRules(),
	}
}
