package intake_test

import (
	"io"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestCharactersThatPostgreSQLRefuses reads a report with NUL characters, raw and as references, in
// its texts. PostgreSQL stores none.
func TestCharactersThatPostgreSQLRefuses(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := setup(t, db)
		for i, bad := range []string{"a\x00b", "a&#0;b", "a&#xD800;b", "a\xff\xfeb", "a\ufffeb"} {
			text := strings.ReplaceAll(`<feedback><version>BAD</version><report_metadata><org_name>BAD</org_name><email></email><extra_contact_info>BAD</extra_contact_info><report_id>BAD`+string(rune('0'+i))+`</report_id>
<error>BAD</error><date_range><begin>1781654400</begin><end>1781740799</end></date_range></report_metadata><policy_published><domain>example.com</domain><p>BAD</p><sp>BAD</sp><adkim>BAD</adkim><fo>BAD</fo></policy_published>
<record><row><source_ip>192.0.2.1</source_ip><count>7</count><policy_evaluated><disposition>BAD</disposition><dkim>pass</dkim><spf>fail</spf><reason><type>BAD</type><comment>BAD</comment></reason></policy_evaluated></row>
<identifiers><header_from>BAD</header_from><envelope_from>BAD</envelope_from></identifiers>
<auth_results><dkim><domain>BAD</domain><selector>BAD</selector><result>BAD</result></dkim><spf><domain>BAD</domain><scope>BAD</scope><result>BAD</result></spf></auth_results></record></feedback>`, "BAD", bad)
			got, err := w.reader.Read(t.Context(), intake.Target{OrgID: org, Addressed: domain, ReceivedAt: now}, func() (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(text)), nil
			})
			if err != nil || got.Reports != 1 || got.Messages != 7 {
				t.Errorf("%q: %+v, %v", bad, got, err)
			}
		}
	})
}
