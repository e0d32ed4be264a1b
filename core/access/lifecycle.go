package access

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Lifecycle has the operations that change API keys, OAuth clients and grants. Each
// operation and its audit entries are one transaction.
//
// It does not check permissions or a second factor: callers do. An operation that is called
// inside another transaction becomes part of that transaction. The operation then removes
// principals from the cache before the commit, and requests may cache the old ones again
// until the commit. After the commit the caller must therefore remove them once more, with
// the methods of the field Principals.
type Lifecycle struct {
	Stores
	Orgs       Orgs
	Transactor core.Transactor
	Clock      core.Clock
	// Principals removes a changed credential from the cache of this process. It is nil in a
	// process that authenticates no callers. Other processes may use the cached credential
	// for five seconds after a change. On PostgreSQL, notifications usually shorten this to
	// one second.
	Principals Forgetter
}

// Forgetter removes cached principals; bearer.Authenticator implements it.
type Forgetter interface {
	// Forget removes the cached principals of a stored credential, by its id.
	Forget(credentialID string)
	// ForgetGrant removes the cached principals of the tokens of a grant.
	ForgetGrant(grantID string)
}

// maxName is the length of the longest name that [CheckName] accepts, in characters.
const maxName = 100

// change calls the function do in a transaction. After the commit, it removes the
// principals of the credentials with these ids from the cache.
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

// forgetGrants removes the cached principals of grants.
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

// creationDetail is the audit detail of a new key or client: what it may do.
type creationDetail struct {
	Environment core.Environment `json:"environment"`
	Scopes      []string         `json:"scopes"`
}

// scopeDiff is the audit detail of a change of scopes: those added and removed, sorted.
type scopeDiff struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

func diffScopes(before, after core.Scopes) scopeDiff {
	return scopeDiff{Added: without(after, before), Removed: without(before, after)}
}

func (d scopeDiff) empty() bool { return len(d.Added)+len(d.Removed) == 0 }

// without returns the scopes that are in the parameter set and not in the parameter other.
func without(set, other core.Scopes) []string {
	rest := []string{}
	for _, s := range set {
		if !other.Has(s) {
			rest = append(rest, string(s))
		}
	}
	return rest
}

// CheckName fails with core.CodeValidationFailed for a name that is empty, has more than
// 100 characters, or has invisible characters. It is used for the names of credentials,
// people, passkeys and organizations.
func CheckName(name string) error { return core.CheckLine("name", name, maxName) }

// checkScopes returns the scopes as a set. Unlike [core.NewScopes], it fails for a scope
// that Mailhelm does not define.
func checkScopes(scopes core.Scopes) (core.Scopes, error) {
	for _, s := range scopes {
		if !s.IsKnown() {
			return nil, core.Invalid("scopes", fmt.Sprintf("contains %q, which is not a scope", core.Quotable(string(s), maxName)))
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
