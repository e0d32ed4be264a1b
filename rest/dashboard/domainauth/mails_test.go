package domainauth_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
)

// TestGoldenMailChoice turns mails on and off with the form, as a member who may only view. A member
// without the permission cannot.
func TestGoldenMailChoice(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.Allow(members.MayViewDomainAuth)
	for _, c := range []struct {
		form           url.Values
		digest, alerts bool
	}{
		{url.Values{"digest": {"on"}, "alerts": {"on"}}, true, true},
		{url.Values{"alerts": {"on"}}, false, true},
		{url.Values{}, false, false},
	} {
		status, _ := frametest.Post(t, o.pages, o.Site.Visitor, page+"/mails", c.form)
		s, err := o.db.DomainNotices().Subscription(t.Context(), o.Org.ID, domainID, o.Site.Visitor.User.ID)
		o.Must(err)
		if status != http.StatusSeeOther || (s.DigestAt != nil) != c.digest || s.Alerts != c.alerts {
			t.Errorf("%v: %d, %+v", c.form, status, s)
		}
		if c.digest {
			o.shown("setup_mails", page+"/setup?done=mails_chosen")
		}
	}
	log, err := o.db.Audit().FindAudit(t.Context(), o.Org.ID, access.AuditFilter{Limit: 10})
	o.Must(err)
	if len(log) != 3 {
		t.Errorf("%d entries in the audit log", len(log))
	}
	o.Allow(members.MayViewAccount)
	if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, page+"/mails", url.Values{"alerts": {"on"}}); status != http.StatusForbidden {
		t.Errorf("a member without the permission: %d", status)
	}
}
