package privacy_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/servetest"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// erasedThen is the account of an erasure. It calls then after it has erased an address the first time.
type erasedThen struct {
	privacy.Account
	then func()
}

func (a *erasedThen) EraseAddress(ctx context.Context, orgID, email string) error {
	err := a.Account.EraseAddress(ctx, orgID, email)
	if then := a.then; then != nil {
		a.then = nil
		then()
	}
	return err
}

// beforePut is the account of a sync. It calls first before the first contact is written.
type beforePut struct {
	sending.Account
	first func()
}

func (a *beforePut) PutContact(ctx context.Context, orgID string, c sending.Contact) error {
	if first := a.first; first != nil {
		a.first = nil
		first()
	}
	return a.Account.PutContact(ctx, orgID, c)
}

// TestErasureBesideASync erases a person while a sync finds that the account lost the contact: the sync is between the
// two parts of the erasure, or the erasure is between the read and the write of the sync. The account must not have the
// address at the end.
func TestErasureBesideASync(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		p := product.Start(t, product.Options{Postgres: postgres})
		sync := func(account sending.Account) topics.SyncReport {
			p.Clock.Advance(time.Second)
			report, err := servetest.NewSync(p.DB, account, p.Clock.Now, slog.New(slog.DiscardHandler)).Run(t.Context(), p.OrgID)
			must(t, err)
			return report
		}
		for name, erase := range map[string]func() topics.SyncReport{
			"sync during the erasure": func() (report topics.SyncReport) {
				account := &erasedThen{Account: p.Simulator}
				account.then = func() { report = sync(p.Simulator) }
				_, err := eraserAt(t, p, account).Erase(t.Context(), access.ActorOf(access.Operator), p.OrgID, erasedEmail)
				must(t, err)
				return report
			},
			"erasure during the sync": func() topics.SyncReport {
				must(t, p.Simulator.DeleteContact(t.Context(), p.OrgID, erasedEmail)) // so that the sync misses it
				account := &beforePut{Account: p.Simulator}
				account.first = func() {
					_, err := eraser(t, p).Erase(t.Context(), access.ActorOf(access.Operator), p.OrgID, erasedEmail)
					must(t, err)
				}
				return sync(account)
			},
		} {
			call(t, p, http.MethodPost, "/v1/contacts", `{"email":"`+erasedEmail+`"}`, http.StatusCreated)
			if report := erase(); report.Pushed != 1 {
				t.Errorf("%s: the sync did %+v, so nothing was shown", name, report)
			}
			if left, err := eraser(t, p).Count(t.Context(), p.OrgID, erasedEmail); err != nil || !left.Empty() {
				t.Errorf("%s: left %+v, %v", name, left, err)
			}
		}
	})
}
