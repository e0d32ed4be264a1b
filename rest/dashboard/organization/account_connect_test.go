package organization_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/organization"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestHintAboutTheStoredSecret checks the hint of the form for connecting an account that an
// empty field keeps the stored secret. It must appear only if sending the form as shown, with
// an empty secret, keeps the secret.
func TestHintAboutTheStoredSecret(t *testing.T) {
	t.Parallel()
	const key = "AKIAIOSFODNN7EXAMPLE"
	ses := sending.NewConnection{Provider: sending.SES, Region: "eu-central-1", AccessKeyID: key, Secret: "hidden"}
	elsewhere := ses
	elsewhere.Endpoint = "https://ses.example.com"
	role := sending.NewConnection{Provider: sending.SES, Region: "eu-central-1", RoleARN: "arn:aws:iam::111122223333:role/mailhelm"}
	smtp := sending.NewConnection{Provider: sending.SMTP, Endpoint: "mail.example.com:25", AccessKeyID: "mailer", Secret: "hidden"}
	// Each form has an invalid field, so that it is shown again.
	of := func(region, accessKeyID string) url.Values {
		return url.Values{"provider": {"ses"}, "region": {region}, "access_key_id": {accessKeyID}, "topic_arn": {"x"}}
	}
	at := func(host, port, user string) url.Values {
		return url.Values{"provider": {"smtp"}, "host": {host}, "port": {port}, "access_key_id": {user}, "max_send_rate": {"x"}}
	}
	for name, tc := range map[string]struct {
		stored sending.NewConnection
		form   url.Values // nil for the page as it is first shown
		hint   bool
	}{
		"SES":                     {ses, nil, true},
		"SES, region changed":     {ses, of("eu-west-1", key), true},
		"SES, key changed":        {ses, of("eu-central-1", "AKIAIOSFODNN7EXAMPLF"), false},
		"SES at another endpoint": {elsewhere, nil, false},
		"SES with a role only":    {role, nil, false},
		"from SES to SMTP":        {ses, at("mail.example.com", "25", key), false},
		"SMTP":                    {smtp, nil, true},
		"SMTP, sent again":        {smtp, at("mail.example.com", "25", "mailer"), true},
		"SMTP, host changed":      {smtp, at("elsewhere.example.com", "25", "mailer"), false},
		"SMTP, port changed":      {smtp, at("mail.example.com", "26", "mailer"), false},
		"SMTP, user changed":      {smtp, at("mail.example.com", "25", "other"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, storagetest.SQLite(t))
			tc.stored.OrgID = o.Org.ID
			o.store(tc.stored)
			path := organization.AccountPath + "/connect"
			status, page := frametest.Get(t, o.pages, path)
			if tc.form != nil {
				status, page = frametest.Post(t, o.pages, o.Site.Visitor, path, tc.form)
			}
			if want := tc.form != nil; (status == http.StatusUnprocessableEntity) != want {
				t.Fatalf("status %d", status)
			}
			if got := strings.Contains(page, "Leave the field empty to keep the stored one"); got != tc.hint {
				t.Errorf("the hint is there: %t, want %t", got, tc.hint)
			}
		})
	}
}
