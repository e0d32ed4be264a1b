package sending_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// keptResults is a SyncRecorder that keeps the results, or fails with broken.
type keptResults struct {
	kept   []sending.SyncResult
	broken error
}

func (k *keptResults) SaveSyncResult(ctx context.Context, orgID string, r sending.SyncResult) error {
	if ctx.Err() != nil || orgID != "org" {
		return fmt.Errorf("saved for %q: %w", orgID, ctx.Err())
	}
	k.kept = append(k.kept, r)
	return k.broken
}

func TestRecordSync(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 12, 12, 0, 0, 0, time.UTC)
	ended := func(f sending.FailureKind) []sending.SyncResult {
		return []sending.SyncResult{{Kind: sending.TemplateSync, EndedAt: noon, Failure: f}}
	}
	for name, tc := range map[string]struct {
		err  error
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		want []sending.SyncResult
	}{
		"success":             {want: []sending.SyncResult{{Kind: sending.TemplateSync, EndedAt: noon, SucceededAt: &noon}}},
		"failure":             {err: fmt.Errorf("page: %w", &sending.Failure{Kind: sending.Refused}), want: ended(sending.Refused)},
		"failure of Mailhelm": {err: errors.New("disk full"), want: ended(sending.Internal)},
		"overtaken":           {err: core.Conflict("Another sync ended.", "Wait."), want: nil},
		"out of time": {
			err: context.DeadlineExceeded, want: ended(sending.TimedOut),
			ctx: func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, 0) },
		},
		"stopped": {err: context.Canceled, ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		}},
	} {
		ctx, cancel := t.Context(), context.CancelFunc(func() {})
		if tc.ctx != nil {
			ctx, cancel = tc.ctx(ctx)
		}
		results := &keptResults{}
		err := sending.RecordSync(results, func() time.Time { return noon }, sending.TemplateSync, func(context.Context, string) error { return tc.err })(ctx, "org")
		cancel()
		if !errors.Is(err, tc.err) {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tc.want, results.kept); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	broken := &keptResults{broken: errors.New("no database")}
	sync := sending.RecordSync(broken, time.Now, sending.ChannelSync, func(context.Context, string) error { return nil })
	if err := sync(t.Context(), "org"); !errors.Is(err, broken.broken) {
		t.Errorf("a result that is not stored: %v", err)
	}
}

// TestRefusalOfASync checks that each failure has a sentence and a next step.
func TestRefusalOfASync(t *testing.T) {
	t.Parallel()
	if e := (sending.SyncResult{}).Refusal(); e != nil {
		t.Errorf("a success: %v", e)
	}
	messages := map[string]bool{}
	for _, kind := range []sending.FailureKind{sending.Refused, sending.Throttled, sending.TimedOut, sending.Invalid, sending.Internal} {
		e := sending.SyncResult{Failure: kind}.Refusal()
		if e == nil || !strings.HasSuffix(e.Message, ".") || !strings.HasSuffix(e.NextStep(), ".") || e.Code.Info().Status == 0 {
			t.Errorf("%s: %v", kind, e)
			continue
		}
		messages[e.Message] = true
	}
	if len(messages) != 5 {
		t.Errorf("messages: %v", messages)
	}
}
