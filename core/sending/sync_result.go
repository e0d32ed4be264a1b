package sending

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// SyncKind is what a sync copies from a sending account.
type SyncKind string

// The kinds of sync, one for each job that copies data.
const (
	ChannelSync  SyncKind = "channels"
	TemplateSync SyncKind = "templates"
	ContactSync  SyncKind = "contacts"
)

// SyncKinds returns all kinds of sync.
func SyncKinds() []SyncKind { return []SyncKind{ChannelSync, TemplateSync, ContactSync} }

// Internal is the failure of a sync that did not fail at the account, but in Mailhelm. Only
// a SyncResult has it.
const Internal FailureKind = "internal"

// SyncResult is how the latest sync of one kind ended.
type SyncResult struct {
	Kind    SyncKind
	EndedAt time.Time
	// Failure is why the sync failed, "" if it succeeded.
	Failure FailureKind
	// SucceededAt is the end of the latest successful sync, nil if there was none.
	SucceededAt *time.Time
}

// Refusal returns why the sync failed, in the message, and what to do, as the next step. It
// returns nil for a successful sync.
func (r SyncResult) Refusal() *core.Error {
	const again = "The next sync tries again within 15 minutes."
	var e *core.Error
	switch r.Failure {
	case "":
		return nil
	case Internal:
		return core.Internal(nil).WithNext(again + " If it fails again, tell the operator: the log of the server has the cause.")
	case Throttled:
		e = core.AsError(Unavailable(&Failure{Kind: r.Failure})).WithNext(again + " Other programs that use the account may use up its rate.")
	case TimedOut:
		e = core.AsError(Unavailable(&Failure{Kind: r.Failure})).WithNext(again)
		e.Message = "The sending account did not answer in time."
	case Refused:
		e = core.AsError(Unavailable(&Failure{Kind: r.Failure})).WithNext("Choose Verify account, and correct what it reports.")
		e.Message = "The sending account is unreachable or suspended, or it rejects the credentials."
	default:
		e = core.AsError(Unavailable(&Failure{Kind: r.Failure})).WithNext("Choose Verify account: the account may lack a permission that the sync needs.")
		e.Message = "The sending account does not accept a call of the sync."
	}
	return e
}

// SyncRecorder stores how syncs ended.
type SyncRecorder interface {
	// SaveSyncResult replaces the result of the organization's latest sync of this kind. It
	// keeps the stored SucceededAt if r.SucceededAt is nil.
	SaveSyncResult(ctx context.Context, orgID string, r SyncResult) error
}

// saveTimeout limits the write of a result, which also happens after the time of a job has
// run out.
const saveTimeout = 5 * time.Second

// RecordSync returns a function that syncs an organization and stores how that ended. It
// stores nothing if the process stops during the sync, or if the sync fails with
// core.CodeConflict because another sync ended first, whose own result counts. If recorder
// is nil, it returns sync unchanged.
func RecordSync(
	recorder SyncRecorder, clock core.Clock, kind SyncKind, sync func(ctx context.Context, orgID string) error,
) func(ctx context.Context, orgID string) error {
	if recorder == nil {
		return sync
	}
	return func(ctx context.Context, orgID string) error {
		err := sync(ctx, orgID)
		if errors.Is(ctx.Err(), context.Canceled) || core.IsConflict(err) {
			return err
		}
		now := clock()
		result := SyncResult{Kind: kind, EndedAt: now, Failure: failureOf(err)}
		if err == nil {
			result.SucceededAt = &now
		}
		saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
		defer cancel()
		if failed := recorder.SaveSyncResult(saving, orgID, result); failed != nil {
			return errors.Join(err, failed)
		}
		return err
	}
}

// failureOf returns the kind of failure of a sync, "" for nil.
func failureOf(err error) FailureKind {
	f, ok := errors.AsType[*Failure](err)
	switch {
	case err == nil:
		return ""
	case ok:
		return f.Kind
	case errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	}
	return Internal
}
