package mailhtml

import "html"

// The element that has the preview text of a mail. Clients show the first text of a mail
// beside its subject in the list of mails. The element is not shown in the mail itself.
const (
	previewStart = `<div style="display:none;overflow:hidden;line-height:1px;opacity:0;max-height:0;max-width:0">`
	previewEnd   = `</div>`
)

// WithPreview returns the template with a preview text at the beginning of its body. The
// text may have Handlebars tags; it is not HTML. An empty text changes nothing.
func WithPreview(source, preview string) string {
	if preview == "" {
		return source
	}
	at := 0
	for _, t := range scan(source) {
		if t.kind == startTag && t.name == "body" {
			at = t.end
			break
		}
	}
	return source[:at] + previewStart + escapeOutsideTags(preview) + previewEnd + source[at:]
}

// escapeOutsideTags escapes a text for HTML, except its Handlebars tags.
func escapeOutsideTags(text string) string {
	tags := tagFinder{source: text}
	escaped, from := "", 0
	for i := 0; i < len(text); i++ {
		if end := tags.end(i); end > 0 {
			escaped += html.EscapeString(text[from:i]) + text[i:end]
			from, i = end, end-1
		}
	}
	return escaped + html.EscapeString(text[from:])
}
