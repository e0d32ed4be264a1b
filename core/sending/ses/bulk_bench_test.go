package ses_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/ses"
)

// canned is a provider that answers each request with the same text, and counts the bytes of
// the requests.
type canned struct {
	answer string
	bytes  int64
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	var err error
	if r.Body != nil {
		var n int64
		n, err = io.Copy(io.Discard, r.Body)
		c.bytes += n
		_ = r.Body.Close()
	}
	return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(c.answer))}, err
}

// BenchmarkBulk compares the processor time of passing 50 newsletters of 12 KB one by one with
// that of passing them in one call, whose template has what is the same in all of them. It
// includes neither the network nor the rendering.
func BenchmarkBulk(b *testing.B) {
	html, text := strings.Repeat("<p>Each month we collect what we have learned.</p>\n", 12<<10/51), strings.Repeat("Each month we collect.\n", 100)
	envelope := sending.Envelope{From: "news@example.com", Tags: map[string]string{"mailhelm_send": "s"}}
	headers := []sending.Header{{Name: "List-Unsubscribe", Value: "<https://app.example.com/u/" + strings.Repeat("x", 60) + ">"}, {Name: "List-Unsubscribe-Post", Value: "List-Unsubscribe=One-Click"}}
	b.Run("single", func(b *testing.B) {
		c := &canned{answer: `{"MessageId":"m"}`}
		a := c.account(b)
		own := envelope
		own.Headers = headers
		for b.Loop() {
			for range sending.MaxBulk {
				if _, err := a.Send(b.Context(), "org", sending.Message{Envelope: own, To: []string{"p@example.com"}, Content: sending.Content{Subject: "News", HTML: html, Text: text}}); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(c.bytes)/float64(b.N*sending.MaxBulk)/1024, "KB/message")
	})
	b.Run("bulk", func(b *testing.B) {
		c := &canned{answer: `{"BulkEmailEntryResults":[` + strings.TrimSuffix(strings.Repeat(`{"Status":"SUCCESS","MessageId":"m"},`, sending.MaxBulk), ",") + `]}`}
		a := c.account(b)
		data := `{"subject":"News","html0":"Ada","html1":"O'Neill","html2":"pro","html3":"` + strings.Repeat("<tr><td>Questions</td></tr>", 4) + `","html4":"https://app.example.com/u/` + strings.Repeat("x", 60) + `","text0":"Ada","text1":"O'Neill"}`
		for b.Loop() {
			bulk := sending.Bulk{Envelope: envelope, Inline: sending.InlineTemplate{Subject: "{{subject}}", HTML: html + "{{html0}} {{html1}} {{html2}} {{html3}} {{html4}}", Text: text + "{{text0}} {{text1}}"}}
			for range sending.MaxBulk {
				bulk.Recipients = append(bulk.Recipients, sending.BulkRecipient{To: "p@example.com", Data: data, Headers: headers, Tags: map[string]string{"mailhelm_recipient": "r"}})
			}
			if _, err := a.SendBulk(b.Context(), "org", bulk); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(c.bytes)/float64(b.N*sending.MaxBulk)/1024, "KB/message")
	})
}

// account returns an account at the provider.
func (c *canned) account(b *testing.B) *ses.Account {
	b.Helper()
	a, err := ses.New(ses.Config{
		AccountID: "111122223333", Region: "eu-central-1", Credentials: ses.Credentials{AccessKeyID: "AKIDEXAMPLE", Secret: "secret"}, HTTPClient: &http.Client{Transport: c},
	})
	if err != nil {
		b.Fatal(err)
	}
	return a
}
