package readiness

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// ReportingRecord returns the text of the record that also sends aggregate reports about a
// domain to an address, with the policies as they are published, and whether the published
// record does so already. Without a published record, the policy is none.
func ReportingRecord(published dmarc.Discovery, address string) (string, bool) {
	if published.Domain != "" && slices.ContainsFunc(published.Record.AggregateURIs, func(uri string) bool { return isMailto(uri, address) }) {
		return published.Record.Text, true
	}
	if published.Domain == "" || published.Domain != published.Author || !published.Record.Applies() {
		text, _ := recommend(published, cmp.Or(HandlingOf(published).Current(), dmarc.None), address)
		return text, false
	}
	present, _ := dmarc.Tags(published.Record.Text) // the text of a parsed record has tags
	rua := dmarc.Tag{Name: "rua", Value: reportURIs(published.Record, present, address)}
	text := strings.Builder{}
	text.WriteString("v=DMARC1")
	written := false
	for _, tag := range present {
		switch {
		case tag.Name == "v" || tag.Name == "rua" && written:
			continue
		case tag.Name == "rua":
			tag, written = rua, true
		}
		text.WriteString("; " + tag.Name + "=" + tag.Value)
	}
	if !written {
		text.WriteString("; rua=" + rua.Value)
	}
	return text.String(), false
}
