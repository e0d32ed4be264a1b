package insight_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/insight"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// office is an organization with one undeliverable address.
type office struct {
	*frametest.Office
	db      *storage.DB
	list    *suppression.Suppression
	figures *reports.Reports
	pages   http.Handler
	address string // the id of the undeliverable address
}

func newOffice(t *testing.T, db *storage.DB) *office {
	t.Helper()
	o := &office{db: db, Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: insight.HealthPath, Name: "Health"}, frame.Area{Path: insight.UndeliverablePath, Name: "Undeliverable"})}
	o.list = suppression.New(suppression.Config{Store: db.Suppression(), RuleStore: db.SuppressionRules(), Transactor: db, Clock: frametest.Now})
	o.figures = reports.New(reports.Config{Store: db.Reports(), Clock: frametest.Now})
	room, err := insight.New(o.Frame, insight.Config{
		Reports: o.figures, Undeliverable: o.list,
	})
	o.Must(err)
	o.pages = o.Open(room)
	entry := suppression.Entry{
		Key: suppression.AddressKey("gone@example.com"), Email: "gone@example.com", Status: suppression.Listed, Reason: suppression.PermanentBounce,
		FirstSeenAt: frametest.Now(), LastSeenAt: frametest.Now(), LastChangedAt: frametest.Now(), EventCount: 1,
	}
	o.address = entry.ID()
	o.Must(db.Suppression().SaveEntries(t.Context(), o.Org.ID, []suppression.Entry{entry}))
	return o
}

// state returns everything that the forms of the pages can change, and the audit log. Tests
// compare the state before and after a request.
func (o *office) state() []any {
	o.T.Helper()
	entry, err := o.list.Entry(o.T.Context(), o.Org.ID, o.address)
	o.Must(err)
	rules, err := o.list.Rules(o.T.Context(), o.Org.ID)
	o.Must(err)
	lines, err := o.db.Audit().FindAudit(o.T.Context(), o.Org.ID, access.AuditFilter{Limit: 100})
	o.Must(err)
	return []any{entry, rules, lines}
}

func TestPermissionsAreCheckedInTheTransaction(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		o.CheckPermissions(o.pages, o.state,
			frametest.Form{
				Name: "exclude", Needs: members.MayManageUndeliverable, Path: insight.UndeliverablePath + "/" + o.address + "/exclude",
				Form: url.Values{"reason": {"They wrote to us"}}, Done: http.StatusSeeOther,
			},
			frametest.Form{
				Name: "rules", Needs: members.MayConfigureUndelivered, Path: insight.UndeliverablePath + "/rules/save",
				Form: url.Values{"profile": {"strict"}}, Done: http.StatusSeeOther,
			},
		)
	})
}

// sendMail records the events of 60 messages on three days, some with bounces, complaints,
// opens or clicks.
func (o *office) sendMail() {
	o.T.Helper()
	var events []messages.Event
	for i := range 60 {
		id, at := fmt.Sprintf("m-%d", i), frametest.Now().AddDate(0, 0, -i%3).Add(-time.Hour)
		kinds := []messages.EventType{messages.Send, messages.Delivery}
		switch {
		case i%13 == 1:
			kinds[1] = messages.Bounce
		case i%41 == 2:
			kinds = append(kinds, messages.Complaint)
		case i%3 == 0:
			kinds = append(kinds, messages.Open, messages.Click)
		}
		for n, kind := range kinds {
			e := messages.Event{
				ID: fmt.Sprintf("%s-%d", id, n), MessageID: id, Type: kind, OccurredAt: at.Add(time.Duration(n)*time.Minute + time.Duration(i)*time.Second),
				Recipient: fmt.Sprintf("person%d@mailbox%d.example", i, i%2),
				Mail:      messages.Mail{From: "hello@shop.example", SentAt: at, Template: "welcome", Channel: "main"},
			}
			if kind == messages.Bounce {
				e.Bounced = &messages.BounceKind{Type: messages.PermanentBounce, SubType: "General"}
			}
			events = append(events, e)
		}
	}
	o.Must(o.db.InTx(o.T.Context(), func(ctx context.Context) error {
		fresh, err := o.db.Messages().RecordEvents(ctx, o.Org.ID, events, frametest.Now())
		if err != nil {
			return err
		}
		return o.figures.ObserveEvents(ctx, o.Org.ID, fresh)
	}))
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	o.sendMail()
	one := insight.UndeliverablePath + "/" + o.address
	for name, path := range map[string]string{
		"health": insight.HealthPath, "health_7": insight.HealthPath + "?days=7", "health_refused": insight.HealthPath + "?days=8",
		"undeliverable": insight.UndeliverablePath, "undeliverable_excluded": insight.UndeliverablePath + "?status=excluded",
		"undeliverable_refused": insight.UndeliverablePath + "?before=x", "undeliverable_one": one, "undeliverable_rules": insight.UndeliverablePath + "/rules",
	} {
		_, page := frametest.Get(t, o.pages, path)
		frametest.CompareGolden(t, name, page, *update)
	}
	_, page := frametest.Post(t, o.pages, o.Site.Visitor, one+"/exclude", url.Values{"reason": {""}})
	frametest.CompareGolden(t, "undeliverable_reason_refused", page, *update)
	_, page = frametest.Post(t, o.pages, o.Site.Visitor, insight.UndeliverablePath+"/rules/save", url.Values{"profile": {"custom"}})
	frametest.CompareGolden(t, "rules_refused", page, *update)
	o.Allow(members.MayViewAnalytics, members.MayViewUndeliverable)
	for name, path := range map[string]string{"health_masked": insight.HealthPath, "rules_of_member": insight.UndeliverablePath + "/rules"} {
		_, page := frametest.Get(t, o.pages, path)
		frametest.CompareGolden(t, name, page, *update)
	}
}
