package rspamd

import (
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core/inbound"
)

const (
	// maxRecipients limits the recipients in the request, because rspamd refuses a request
	// whose header is too large. Rules only ask whether there are many.
	maxRecipients = 50
	// maxValue limits a value of the header in bytes. A path of RFC 5321 has at most 256.
	maxValue = 512
)

// describe sets the headers that describe the envelope of a message.
func describe(h http.Header, e inbound.Envelope) {
	h.Set("From", value("<"+e.Sender+">"))
	for _, route := range e.Routes[:min(len(e.Routes), maxRecipients)] {
		h.Add("Rcpt", value("<"+route.Recipient+">"))
	}
	if e.RemoteIP.IsValid() {
		h.Set("IP", e.RemoteIP.Unmap().WithZone("").String())
	}
	if e.Helo != "" {
		h.Set("Helo", value(e.Helo))
	}
	if e.ID != "" {
		h.Set("Queue-Id", value(e.ID))
	}
}

// value returns a text as the value of a header: control characters become question marks.
// The sender of the message chooses the text. If net/http refused it, the message would pass
// without a scan.
func value(text string) string {
	text = text[:min(len(text), maxValue)]
	var b strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c == 0x7f {
			c = '?'
		}
		b.WriteByte(c)
	}
	return b.String()
}
