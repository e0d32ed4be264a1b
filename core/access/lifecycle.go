package access

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// Lifecycle carries out what people decide about API keys and OAuth clients. Each
// task is one transaction together with its lines in the audit log.
//
// It does not ask whether the actor may do it, nor for a second factor: whoever
// calls has settled both. A task called inside another transaction joins it, and
// Forget is then called before the commit; other callers have nothing to mind.
type Lifecycle struct {
	Store      Store
	Keys       KeyStore
	Transactor core.Transactor
	Clock      core.Clock
	// Grants and OpenClients are needed by what ends or blocks clients.
	Grants      GrantStore
	OpenClients OpenClientStore
	// Forget drops what this process remembers of a credential, by its id, so that
	// a change is felt by its next request: [Authenticator.Forget]. nil in a
	// process that authenticates no callers. Other processes apply a change within a
	// second on PostgreSQL, within five at worst.
	Forget func(id string)
	// ForgetGrant does the same for the tokens of a grant:
	// [Authenticator.ForgetGrant].
	ForgetGrant func(id string)
}

// Actor is who does something, as the audit log names it.
type Actor struct {
	Kind string // user, operator or system
	ID   string
}

// Operator is whoever has the database itself: the administrator at a shell.
const Operator = "operator"

// ActorOf is the user with this id, or [Operator].
func ActorOf(who string) Actor {
	if who == Operator {
		return Actor{Kind: Operator, ID: Operator}
	}
	return Actor{Kind: "user", ID: who}
}

// system is the actor of what happens by itself.
func system() Actor { return Actor{Kind: "system", ID: "mailhelm"} }

// maxName bounds the name of a credential, in characters.
const maxName = 100

// change runs one task and makes this process forget the credentials it changed.
func (l Lifecycle) change(ctx context.Context, do func(ctx context.Context, now time.Time) error, ids ...string) error {
	err := l.Transactor.InTx(ctx, func(ctx context.Context) error { return do(ctx, l.Clock()) })
	if err != nil || l.Forget == nil {
		return err
	}
	for _, id := range ids {
		l.Forget(id)
	}
	return nil
}

// forgetGrants makes this process feel that grants have ended.
func (l Lifecycle) forgetGrants(ids []string) {
	if l.ForgetGrant == nil {
		return
	}
	for _, id := range ids {
		l.ForgetGrant(id)
	}
}

// happening is a line of the audit log as a task knows it.
type happening struct {
	actor   Actor
	action  string
	orgID   string
	subject string
	detail  any // becomes a JSON object; nil is an empty one
}

func (l Lifecycle) record(ctx context.Context, now time.Time, h happening) error {
	detail := []byte("{}")
	if h.detail != nil {
		var err error
		if detail, err = json.Marshal(h.detail); err != nil {
			return fmt.Errorf("audit detail of %s: %w", h.action, err)
		}
	}
	return l.Store.AppendAudit(ctx, AuditEvent{
		ID: core.NewID(), OrgID: h.orgID, OccurredAt: now, Action: h.action, ActorKind: h.actor.Kind, ActorID: h.actor.ID,
		SubjectID: h.subject, Detail: string(detail),
	})
}

// granted is the detail of a creation: what the credential may do from its start.
type granted struct {
	Environment core.Environment `json:"environment"`
	Scopes      []string         `json:"scopes"`
}

// scopeDiff is the detail of a change of scopes. Both lists are sorted.
type scopeDiff struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

func diffScopes(before, after core.Scopes) scopeDiff {
	return scopeDiff{Added: without(after, before), Removed: without(before, after)}
}

func (d scopeDiff) empty() bool { return len(d.Added)+len(d.Removed) == 0 }

// without lists what set has and other lacks.
func without(set, other core.Scopes) []string {
	rest := []string{}
	for _, s := range set {
		if !other.Has(s) {
			rest = append(rest, string(s))
		}
	}
	return rest
}

// checkName refuses what a list of credentials cannot show: people tell them
// apart by it.
func checkName(name string) error {
	visible, hidden := core.VisibleText(name)
	switch {
	case strings.TrimSpace(visible) == "":
		return core.Invalid("name", "must not be empty")
	case utf8.RuneCountInString(name) > maxName:
		return core.Invalid("name", fmt.Sprintf("must have at most %d characters", maxName))
	case hidden > 0 || !utf8.ValidString(name) || strings.ContainsAny(name, "\n\t"):
		return core.Invalid("name", "must be one line of visible characters")
	}
	return nil
}

// checkScopes brings scopes into the form of a set. Unlike [core.NewScopes] it
// refuses what is not in the catalogue: nobody should believe to have given it.
func checkScopes(scopes core.Scopes) (core.Scopes, error) {
	for _, s := range scopes {
		if !s.Known() {
			return nil, core.Invalid("scopes", fmt.Sprintf("must be in the catalogue, and %q is not", core.Quotable(string(s), maxName)))
		}
	}
	return core.NewScopes(scopes.Strings()...), nil
}

func checkEnvironment(env core.Environment) error {
	if env != core.Live && env != core.Test {
		return core.Invalid("environment", "must be live or test")
	}
	return nil
}
