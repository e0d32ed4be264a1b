// Package reporttest writes DMARC aggregate reports for tests.
package reporttest

import (
	"bufio"
	"fmt"
	"io"
)

// Large writes a report with n records of about 600 bytes, from 200 addresses for each of 50 domains
// in turn. It is the same for the same n. Errors of w are ignored.
func Large(w io.Writer, n int) {
	out := bufio.NewWriter(w)
	defer out.Flush() //nolint:errcheck // a buffer or a hash takes everything
	fmt.Fprint(out, `<?xml version="1.0" encoding="UTF-8" ?>
<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0">
  <version>1.0</version>
  <report_metadata>
    <org_name>receiver.example</org_name>
    <email>dmarc-reports@receiver.example</email>
    <report_id>large-1</report_id>
    <date_range><begin>1795737600</begin><end>1795823999</end></date_range>
  </report_metadata>
  <policy_published><domain>example.com</domain><adkim>r</adkim><aspf>r</aspf><p>none</p><sp>none</sp></policy_published>
`)
	for i := range n {
		result := []string{"pass", "fail"}[i%7/6]
		fmt.Fprintf(out, `  <record>
    <row>
      <source_ip>192.0.%d.%d</source_ip>
      <count>%d</count>
      <policy_evaluated>
        <disposition>none</disposition>
        <dkim>%s</dkim>
        <spf>%s</spf>
      </policy_evaluated>
    </row>
    <identifiers>
      <envelope_from>bounce%d.example.com</envelope_from>
      <header_from>example.com</header_from>
    </identifiers>
    <auth_results>
      <dkim>
        <domain>example.com</domain>
        <selector>s%d</selector>
        <result>%s</result>
      </dkim>
      <spf>
        <domain>bounce%d.example.com</domain>
        <scope>mfrom</scope>
        <result>pass</result>
      </spf>
    </auth_results>
  </record>
`, i%50, i%200, i%90+1, result, result, i%50, i%3, result, i%50)
	}
	fmt.Fprint(out, "</feedback>\n")
}
