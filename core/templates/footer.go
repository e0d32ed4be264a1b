package templates

import (
	"html"
	"strings"

	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/mailhtml"
	"github.com/mailhelm/mailhelm/core/mailsettings"
)

// unsubscribeWords are the texts of the link to unsubscribe, by language.
var unsubscribeWords = map[string]string{
	"en": "Unsubscribe", "de": "Abmelden", "es": "Darse de baja", "fr": "Se désabonner", "it": "Annulla l'iscrizione", "nl": "Afmelden", "pt": "Cancelar subscrição",
}

// footerStyle is the style of the paragraphs that a footer adds to HTML.
const footerStyle = `style="font-size:12px;line-height:18px;text-align:center"`

// addition is something that is added to a part that does not have it.
type addition struct {
	html, text     string
	inHTML, inText func(source string) bool
}

// footer has what is added at the end of each part of a mail.
type footer []addition

// footerOf returns the footer of an organization's mail.
func footerOf(s mailsettings.Settings) footer {
	var f footer
	if s.UnsubscribeFooter {
		f = append(f, unsubscribeLink(s.Language))
	}
	if address := plainAddress(s.PostalAddress); address != "" {
		f = append(f, postalAddress(address))
	}
	return f
}

// unsubscribeLink returns the link to unsubscribe. Mail with a link to the preference page
// does not need it, because recipients can unsubscribe there.
func unsubscribeLink(language string) addition {
	words, known := unsubscribeWords[language]
	if !known {
		language = mailsettings.Default().Language
		words = unsubscribeWords[language]
	}
	names := []string{"unsubscribe_url", "preferences_url"}
	return addition{
		html:   `<p lang="` + language + `" ` + footerStyle + `><a href="{{unsubscribe_url}}" style="color:inherit">` + html.EscapeString(words) + `</a></p>`,
		text:   words + ": {{unsubscribe_url}}",
		inHTML: func(source string) bool { return mailhtml.UsesLink(source, names...) },
		inText: func(source string) bool { return mailhtml.UsesName(source, names...) },
	}
}

// postalAddress returns the postal address. A part has it if its words are there in
// sequence, in any case and with any white space.
func postalAddress(address string) addition {
	words := normalize(address)
	return addition{
		html:   `<p ` + footerStyle + `>` + strings.ReplaceAll(html.EscapeString(address), "\n", "<br>") + `</p>`,
		text:   address,
		inHTML: func(source string) bool { return strings.Contains(normalize(mailhtml.Words(source)), words) },
		inText: func(source string) bool { return strings.Contains(normalize(source), words) },
	}
}

// normalize returns a text in lower case with single spaces.
func normalize(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// plainAddress returns a postal address without the characters of template tags. Settings
// that were checked have none.
func plainAddress(address string) string {
	return strings.TrimSpace(strings.NewReplacer("{", "", "}", "", `\`, "").Replace(address))
}

// addToHTML returns HTML with the additions that it lacks, at the end of the body. If the
// end of the source is not shown, for example after an open comment, an addition is placed
// at its beginning.
func (f footer) addToHTML(source string) string {
	for _, a := range f {
		if a.inHTML(source) {
			continue
		}
		for _, candidate := range []string{mailhtml.AppendToBody(source, a.html), a.html + source} {
			if a.inHTML(candidate) && isValidOrLong(candidate, handlebars.HTML) {
				source = candidate
				break
			}
		}
	}
	return source
}

// addToText returns a text with the additions that it lacks, in paragraphs at its end.
func (f footer) addToText(source string) string {
	for _, a := range f {
		if a.inText(source) {
			continue
		}
		candidate := strings.TrimRight(source, " \n\r\t") + "\n\n" + a.text + "\n"
		if a.inText(candidate) && isValidOrLong(candidate, handlebars.Text) {
			source = candidate
		}
	}
	return source
}

// isValidOrLong reports whether the source is a valid template, or has no fault but its
// length.
func isValidOrLong(source string, mode handlebars.Mode) bool {
	return len(source) > handlebars.MaxSource || isValid(source, mode)
}
