package wire_test

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/sending/wire"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// FuzzWire checks that every request gets a response in the format of Amazon SES, without a
// broken connection or an internal error.
func FuzzWire(f *testing.F) {
	s, err := simulator.Open(filepath.Join(f.TempDir(), "account.db"), simulator.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	if err := s.Seed(f.Context(), "org", simulator.Setup{
		Account:    &sending.Overview{SendingEnabled: true, Max24HourSend: -1},
		Identities: []sending.Identity{{Identity: "example.com", Verification: sending.Success}},
		List:       &sending.ContactList{Name: "people"},
		Templates:  []sending.Template{{Name: "welcome", Subject: "{{a}}"}},
	}); err != nil {
		f.Fatal(err)
	}
	client := &http.Client{Transport: wire.Transport(wire.Config{Account: s, OrgID: "org"})}
	f.Add(true, "outbound-emails", simple)
	f.Add(true, "outbound-bulk-emails", `{"BulkEmailEntries":[{"Destination":{"ToAddresses":["\u0000"]}}],"DefaultContent":{"Template":{"TemplateName":"welcome","TemplateData":"[]"}}}`)
	f.Add(true, "contact-lists/people/contacts", `{"EmailAddress":"a\u0000@example.com","AttributesData":"\ud800"}`)
	f.Add(true, "contact-lists/people/contacts/list", `{"PageSize":-1,"NextToken":"x"}`)
	f.Add(true, "templates", "{\"TemplateName\":\"\xff\",\"TemplateContent\":{}}")
	f.Add(true, "templates/welcome/render", `{"TemplateData":"{\"a\":{\"b\":[1,null]}}"}`)
	f.Add(true, "account/details", `{"ProductionAccessEnabled":true,"WebsiteURL":"http://%zz","MailType":"MARKETING"}`)
	f.Add(false, "suppression/addresses?StartDate=x&Reason=\x00", "")
	f.Add(false, "identities?NextToken=AA&PageSize=99999999999999999999", "")
	f.Add(false, "contact-lists/people/contacts/\x00%ff", "")
	f.Fuzz(func(t *testing.T, post bool, path, body string) {
		method := http.MethodGet
		if post {
			method = http.MethodPost
		}
		address, err := url.Parse("https://account.example/v2/email/" + path)
		if err != nil {
			address = &url.URL{Scheme: "https", Host: "account.example", Path: "/v2/email/" + path}
		}
		r, err := http.NewRequestWithContext(t.Context(), method, "https://account.example/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.URL = address
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKID/20260304/eu-west-1/ses/aws4_request")
		answer, err := client.Transport.RoundTrip(r)
		if err != nil {
			t.Fatalf("%s %q breaks: %v", method, path, err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusForbidden {
			t.Errorf("%s %q with %q is answered with %d", method, path, body, answer.StatusCode)
		}
	})
}
