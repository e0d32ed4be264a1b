package objects

import (
	"mime"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// maxFilename is the maximum length of a file name in bytes. Most file systems allow 255;
	// browsers may append a number.
	maxFilename = 150
	// maxContentType is the maximum length of a content type in bytes (RFC 6838 section 4.2
	// limits type and subtype to 127 characters each; a charset is added).
	maxContentType = 300
	defaultType    = "application/octet-stream"
)

// Clean returns the link with a harmless file name and content type, as both come from a
// mail. The file name has no folders, no control characters and no invisible characters, and
// at most 150 bytes, with its extension. The content type is valid, with no parameter except
// the charset. Clean does not change a link that it returned.
func (l Link) Clean() Link {
	l.Filename, l.ContentType = cleanFilename(l.Filename), cleanType(l.ContentType)
	return l
}

// Disposition returns the value of the header field Content-Disposition (RFC 6266) for a
// clean link: attachment, or inline if the browser may show the object.
func (l Link) Disposition(inline bool) string {
	kind := "attachment"
	if inline {
		kind = "inline"
	}
	if l.Filename == "" {
		return kind
	}
	// FormatMediaType encodes names with other than ASCII characters (RFC 8187).
	if value := mime.FormatMediaType(kind, map[string]string{"filename": l.Filename}); value != "" {
		return value
	}
	return kind
}

// cleanFilename removes what a file name must not have. Browsers remove most of it too, but
// other programs may not.
func cleanFilename(name string) string {
	name = strings.ToValidUTF8(name, "_")
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name, _ = core.VisibleText(name)
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return -1
		case strings.ContainsRune(`/\:*?"<>|%`, r):
			return '_' // what Windows forbids in names, and what starts an escape in URLs
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, name)
	name = strings.Trim(name, ". ") // no hidden file; Windows removes dots and spaces at the end
	if len(name) <= maxFilename {
		return name
	}
	extension := path.Ext(name)
	if len(extension) > 20 {
		extension = ""
	}
	return strings.TrimRight(cutText(name[:len(name)-len(extension)], maxFilename-len(extension)), ". ") + extension
}

// cutText returns the longest beginning of a text that has at most limit bytes and no
// incomplete character.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// cleanType returns a content type without parameters except charset.
func cleanType(contentType string) string {
	if len(contentType) > maxContentType {
		return defaultType
	}
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || !strings.Contains(kind, "/") {
		return defaultType
	}
	kept := map[string]string{}
	if charset := parameters["charset"]; charset != "" && isToken(charset) {
		kept["charset"] = strings.ToLower(charset)
	}
	if value := mime.FormatMediaType(kind, kept); value != "" {
		return value
	}
	return defaultType
}

// isToken reports whether a charset has only characters of names of charsets (RFC 2978
// section 2.3, without the ones that no registered name has).
func isToken(charset string) bool {
	for _, r := range charset {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.:+", r) {
			return false
		}
	}
	return true
}
