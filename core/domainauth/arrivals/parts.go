package arrivals

import (
	"path"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/inbound"
)

// maxParts is how many files of a message are read. Reporters send one report in a message
// (RFC 9990 section 3.1), so there is room for signatures and logos beside it.
const maxParts = 10

// part is a part of a message that may be a report.
type part struct {
	name, key string
	size      int64
	inText    bool
}

// partsOf returns the parts of a message that may be reports: its attachments, or its text if
// there is none. Many reporters give wrong types and names, so only those are left out that say
// that they are something else.
func partsOf(m inbound.Message) []part {
	var parts []part
	for _, file := range m.Attachments {
		if mayBeReport(file) {
			parts = append(parts, part{name: file.Filename, key: file.Key, size: file.Size})
		}
	}
	if len(parts) == 0 && (m.TextKey != "" || textMayBeReport(m.Text)) {
		parts = append(parts, part{key: m.RawKey, size: m.Size, inText: true})
	}
	return parts
}

var (
	reportExtensions = []string{".xml", ".gz", ".gzip", ".zip"}
	otherExtensions  = []string{
		".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".pdf", ".html", ".htm", ".css", ".ics", ".vcf", ".p7s", ".p7m", ".asc", ".eml", ".doc", ".docx",
	}
	otherTypes = []string{
		"text/html", "text/css", "text/calendar", "text/vcard", "text/rfc822-headers", "application/pdf", "application/pkcs7-signature",
		"application/x-pkcs7-signature", "application/pgp-signature", "application/ics",
	}
	otherFamilies = []string{"image/", "audio/", "video/", "font/", "message/", "multipart/"}
)

// mayBeReport decides by the extension of the file name, and by the type without a known one.
func mayBeReport(f inbound.File) bool {
	switch extension := strings.ToLower(path.Ext(f.Filename)); {
	case slices.Contains(reportExtensions, extension):
		return true
	case slices.Contains(otherExtensions, extension), slices.Contains(otherTypes, f.ContentType):
		return false
	}
	return !slices.ContainsFunc(otherFamilies, func(family string) bool { return strings.HasPrefix(f.ContentType, family) })
}

// reportBeginnings are how XML, gzip and zip begin, as they are and in base64. The second byte of
// gzip is not valid in UTF-8, so that it was replaced.
var reportBeginnings = []string{"<", "\x1f", "PK\x03\x04", "H4sI", "UEsDB", "PD94", "PGZl"}

func textMayBeReport(text string) bool {
	text = strings.TrimLeft(text, "\ufeff \t\r\n")
	return slices.ContainsFunc(reportBeginnings, func(b string) bool { return strings.HasPrefix(text, b) })
}
