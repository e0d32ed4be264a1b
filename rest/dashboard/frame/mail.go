package frame

import "net/http"

// mailPolicy is the content security policy of the HTML of a mail. It comes from a
// stranger, so it gets an origin of its own. It runs no script, sends no form, and loads
// nothing over the network. Only the dashboard may show it in a frame.
const mailPolicy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// IsForFrame reports whether a browser shows the answer in a frame. Browsers without the
// header Sec-Fetch-Dest do not say, which counts as a frame. A handler that writes the HTML
// of a mail redirects other requests to the page with the frame, so that no link leads to a
// stranger's page under the address of the dashboard.
func IsForFrame(r *http.Request) bool {
	into := r.Header.Get("Sec-Fetch-Dest")
	return into == "" || into == "iframe"
}

// WriteMail writes the HTML of a mail for a frame, with a policy that keeps it apart from
// the dashboard.
func WriteMail(w http.ResponseWriter, html string) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", mailPolicy)
	header.Set("X-Frame-Options", "SAMEORIGIN")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(html)) // an error means that the client has disconnected
}

// AllowMailFrames extends the content security policy of a page: it may show pages of this
// host in frames. A link in a mail then leads to no other host.
func AllowMailFrames(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Security-Policy", header.Get("Content-Security-Policy")+"; frame-src 'self'")
}

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
			v.Words = "no result" // such as DKIM of a message without a signature
			if check[0] == "spam" {
				v.Words = "undecided"
			}
		case "PROCESSING_FAILED":
			v.Words, v.Mark = "not checked: the check failed", "delayed"
		case "DISABLED":
			v.Words, v.Mark = "not checked here", "test"
		default:
			continue
		}
		all = append(all, v)
	}
	return all
}
