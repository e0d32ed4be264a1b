package incoming

import (
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inboxes/extract"
)

// found returns the one-time codes and links of a message.
func found(m inbound.Message) inbound.Extracted {
	all := extract.Extract(extract.Message{Subject: m.Subject, Text: m.Text, HTML: m.HTML})
	var e inbound.Extracted
	for _, code := range all.Codes {
		e.Codes = append(e.Codes, code.Value)
	}
	for _, link := range all.Links {
		e.Links = append(e.Links, inbound.Link{URL: link.URL, Kind: string(link.Kind)})
	}
	return e
}
