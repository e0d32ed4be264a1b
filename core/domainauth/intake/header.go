package intake

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// maxReporter bounds the name of a reporter, in bytes.
const maxReporter = 253

// ReporterOf returns who wrote a report, as the report states it, in a form in which equal ones
// are equal: the domain of its mail address, or else its name.
func ReporterOf(r *report.Report) string {
	if at := strings.LastIndexByte(r.Email, '@'); at >= 0 {
		if name, ok := dmarc.Name(strings.Trim(r.Email[at+1:], " <>")); ok {
			return name
		}
	}
	name := strings.Join(strings.Fields(strings.ToLower(r.Org)), " ")
	if len(name) > maxReporter {
		name = strings.TrimSpace(strings.ToValidUTF8(name[:maxReporter], ""))
	}
	if name == "" {
		return "unknown"
	}
	return name
}

// identityOf returns a text that is the same for copies of a report. Some reporters use an id
// again for another period, so the period is part of it. Without an id, the numbers are.
func identityOf(r *report.Report) string {
	id := fmt.Sprintf("%q %q %q %d %d", ReporterOf(r), r.ID, r.Policy.Domain, r.Begin.Unix(), r.End.Unix())
	if r.ID == "" {
		id += fmt.Sprintf(" %d %d", r.Records, r.Messages)
	}
	sum := sha256.Sum256([]byte(id))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
