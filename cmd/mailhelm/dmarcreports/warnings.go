package dmarcreports

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// warningTexts says what each warning means for the figures.
var warningTexts = map[report.WarningCode]string{
	report.Truncated:          "the report ends in the middle; what was cut is not counted, so its figures may be too low",
	report.MissingEndTag:      "an element has no end tag",
	report.StrayEndTag:        "an end tag has no element and was ignored",
	report.StrayMarkup:        `a "<" that begins no element is read as text`,
	report.InvalidEncoding:    "characters could not be read and were replaced",
	report.UnknownEntity:      "a reference to a character could not be read and stays as it is",
	report.ValueTooLong:       "a value was cut off after 1,024 bytes",
	report.InvalidSourceIP:    "a record was left out, because its source is no IP address",
	report.InvalidCount:       "a record was left out, because it has no number of messages",
	report.InvalidResult:      `a result that is missing, or neither "pass" nor "fail", counts as not passed`,
	report.InvalidDisposition: "a disposition that DMARC does not have counts as none",
	report.TooManyResults:     "a record has more results than are read",
	report.InvalidPeriod:      "the period is missing or cannot be read",
	report.LongPeriod:         "the period is longer than a day, so that days cannot be distinguished",
	report.MissingDomain:      "the report does not say which domain it is about",
	report.MissingID:          "the report has no identifier, so that copies of it cannot be recognized",
	report.UnknownNamespace:   "the XML namespace is not one of DMARC",
	report.ContentBeforeStart: "an element before the report was ignored",
	report.ContentAfterEnd:    "what follows the report was not read",
	report.TooDeep:            "elements that are nested too deeply were ignored",
}

// warningText returns a warning as a sentence, with how often it occurred and the first text.
func warningText(w report.Warning) string {
	text := warningTexts[w.Code]
	if w.Count > 1 {
		text += fmt.Sprintf(" (%s times)", number(uint64(w.Count)))
	}
	if w.Detail != "" {
		text += fmt.Sprintf(", first %q", w.Detail)
	}
	return text
}
