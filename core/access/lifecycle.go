package access

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// Lifecycle is the tasks on API keys, OAuth clients and grants. Each task is one
// transaction together with its lines in the audit log.
//
// It checks neither that the actor may do it nor a second factor: callers do. A task
// called inside another transaction joins it, and Principals is then called before the
// commit; such a caller forgets once more after the commit.
type Lifecycle struct {
	Stores
	Orgs       Orgs
	Transactor core.Transactor
	Clock      core.Clock
	// Principals drops what this process remembers of a credential, so that its next
	// request meets the change. nil in a process that authenticates no callers. Other
	// processes apply a change within a second on PostgreSQL, within five at worst.
	Principals Forgetter
}

// Forgetter drops remembered principals: [Authenticator] is one.
type Forgetter interface {
	// Forget drops those of a stored credential, by its id.
	Forget(credentialID string)
	// ForgetGrant drops those of the tokens of a grant.
	ForgetGrant(grantID string)
}

// maxName bounds a name, in characters.
const maxName = 100

// change runs one task in a transaction and forgets the changed credentials.
func (l Lifecycle) change(ctx context.Context, do func(ctx context.Context, now time.Time) error, ids ...string) error {
	err := l.Transactor.InTx(ctx, func(ctx context.Context) error { return do(ctx, l.Clock()) })
	if err != nil || l.Principals == nil {
		return err
	}
	for _, id := range ids {
		l.Principals.Forget(id)
	}
	return nil
}

// forgetGrants drops the remembered principals of grants.
func (l Lifecycle) forgetGrants(ids []string) {
	if l.Principals == nil {
		return
	}
	for _, id := range ids {
		l.Principals.ForgetGrant(id)
	}
}

func (l Lifecycle) record(ctx context.Context, now time.Time, e AuditEntry) error {
	return RecordAudit(ctx, l.Audit, now, e)
}

// granted is the audit detail of a creation.
type granted struct {
	Environment core.Environment `json:"environment"`
	Scopes      []string         `json:"scopes"`
}

// scopeDiff is the audit detail of a change of scopes. Both lists are sorted.
type scopeDiff struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

func diffScopes(before, after core.Scopes) scopeDiff {
	return scopeDiff{Added: without(after, before), Removed: without(before, after)}
}

func (d scopeDiff) empty() bool { return len(d.Added)+len(d.Removed) == 0 }

// without returns the scopes of set that other lacks.
func without(set, other core.Scopes) []string {
	rest := []string{}
	for _, s := range set {
		if !other.Has(s) {
			rest = append(rest, string(s))
		}
	}
	return rest
}

// CheckName fails for a name that a list cannot show: an empty one, one of more than 100
// characters, and one with characters that are not visible. Credentials, people, passkeys
// and organizations have such names.
func CheckName(name string) error {
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

// checkScopes returns the scopes as a set. Unlike [core.NewScopes] it fails for a scope
// that is not in the catalogue.
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
