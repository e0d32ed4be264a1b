package frame

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// The layouts, for [time.Time.Format], of dates and times on pages. All times are in UTC.
const (
	DateLayout   = time.DateOnly
	MomentLayout = "2006-01-02 15:04 UTC"
)

// PlainName returns a name without invisible characters and without characters that change
// the order of the text around it.
func PlainName(name string) string { return core.OnlyVisible(name) }

// Quoted returns a text of another person in quotation marks, as [PlainName] writes it.
func Quoted(text string) string { return "“" + PlainName(text) + "”" }
// Verdict is the result of a check of received mail, as pages show it. Mark is the class of its
// mark.
type Verdict struct{ Name, Words, Mark string }

// verdictNames are the checks of received mail in the order of pages, with their names.
var verdictNames = [][2]string{{"spf", "SPF"}, {"dkim", "DKIM"}, {"dmarc", "DMARC"}, {"spam", "Spam"}, {"virus", "Malware"}}

// VerdictsOf returns the verdicts of a received message in the order of pages. Values that no
// page knows are left out.
func VerdictsOf(values map[string]string) []Verdict {
	var all []Verdict
	for _, check := range verdictNames {
		v := Verdict{Name: check[1]}
		switch values[check[0]] {
		case "PASS":
			v.Words, v.Mark = "passed", "good"
		case "FAIL":
			v.Words, v.Mark = "failed", "bounced"
		case "GRAY":
			v.Words, v.Mark = "undecided", "ended"
		case "PROCESSING_FAILED":
			v.Words, v.Mark = "not checked: the check failed", "delayed"
		case "DISABLED":
			v.Words, v.Mark = "not checked here", "ended"
		default:
			continue
		}
		all = append(all, v)
	}
	return all
}
