package templates

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/mailhtml"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Finish returns the content of a mail as it is sent. It does these steps, in this order:
//   - a link to unsubscribe is added at the end of each part that links to neither the
//     unsubscribe nor the preference page, if the settings have a footer;
//   - the postal address is added at the end of each part that does not have it, if the
//     settings have one;
//   - rules of style elements are written into style attributes; see [mailhtml.Inline];
//   - {{asset "path"}} and relative values of src become addresses below the address of
//     assets, if the settings have one; other paths stay as written;
//   - content without text gets the text of its HTML.
//
// Finishing finished content changes nothing. Valid content stays valid, except that added
// lines can make it longer than [handlebars.MaxSource]: it is then refused where it is
// compiled, and not sent without them. Parts with faults and empty parts stay as they are.
func Finish(content sending.Template, s mailsettings.Settings) sending.Template {
	footer := footerOf(s)
	if content.HTML != "" {
		content.HTML = footer.addToHTML(content.HTML)
		content.HTML = ifValid(content.HTML, handlebars.HTML, inlined)
		content.HTML = ifValid(content.HTML, handlebars.HTML, func(source string) (string, error) { return resolveAssets(source, s.AssetBaseURL) })
	}
	if content.Text == "" {
		content.Text = ifValid("", handlebars.Text, func(string) (string, error) { return mailhtml.Text(content.HTML), nil })
	}
	if content.Text != "" {
		content.Text = footer.addToText(content.Text)
		content.Text = ifValid(content.Text, handlebars.Text, func(source string) (string, error) {
			return handlebars.ReplaceAssets(source, handlebars.Text, addressBelow(s.AssetBaseURL))
		})
	}
	return content
}

// ifValid returns the changed source, or the source itself if the change fails or its
// result is not a valid template.
func ifValid(source string, mode handlebars.Mode, change func(string) (string, error)) string {
	changed, err := change(source)
	if err != nil || !isValid(changed, mode) {
		return source
	}
	return changed
}

// isValid reports whether the source is a template without faults.
func isValid(source string, mode handlebars.Mode) bool {
	_, err := handlebars.Parse(source, mode)
	return err == nil
}

func inlined(source string) (string, error) {
	if !isValid(source, handlebars.HTML) {
		return source, nil
	}
	return mailhtml.Inline(source)
}

// resolveAssets returns HTML with the addresses of assets below base.
func resolveAssets(source, base string) (string, error) {
	address := addressBelow(base)
	source, err := handlebars.ReplaceAssets(source, handlebars.HTML, address)
	if err != nil {
		return "", err
	}
	return mailhtml.ReplaceSources(source, func(src string) (string, bool) {
		if base == "" || !isRelative(src) {
			return "", false
		}
		return base + "/" + escapeReference(strings.TrimPrefix(src, "./")), true
	}), nil
}

// addressBelow returns the function that finds the address of a path of an asset.
func addressBelow(base string) func(path string) (string, bool) {
	return func(path string) (string, bool) {
		if base == "" || !isRelative(path) {
			return "", false
		}
		segments := strings.Split(strings.TrimPrefix(path, "./"), "/")
		for i := range segments {
			segments[i] = url.PathEscape(segments[i])
		}
		return base + "/" + strings.Join(segments, "/"), true
	}
}

// scheme matches the beginning of an absolute address.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// isRelative reports whether a path names a file below the folder of assets: it has no
// scheme, does not begin at a root, and does not leave the folder.
func isRelative(path string) bool {
	return path != "" && !strings.ContainsAny(path[:1], `/\#?`) && !strings.ContainsAny(path, "\\\n\r\t\x00") && !scheme.MatchString(path) &&
		!slices.Contains(strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("/?#", r) }), "..")
}

// escapeReference percent-encodes the bytes of a relative reference that no address has. It
// keeps what is encoded already.
func escapeReference(reference string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(reference) {
		c := reference[i]
		if '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte("-._~:/?#[]@!$&()*+,;=%", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}
