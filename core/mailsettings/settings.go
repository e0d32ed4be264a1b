package mailsettings

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// Settings apply to all mail of an organization.
type Settings struct {
	// Language is the BCP 47 tag of the language of footers and public pages; see
	// [Languages].
	Language string
	// PostalAddress is added to mail that does not have it. It has several lines, joined by
	// "\n", or is "" for none.
	PostalAddress string
	// UnsubscribeFooter says whether mail without an unsubscribe link gets one.
	UnsubscribeFooter bool
	// AssetBaseURL is the https address below which relative paths of assets are served,
	// without a "/" at its end. "" means that such paths stay as written.
	AssetBaseURL string
	// UpdatedAt is the time of the last change, zero if nothing was changed.
	UpdatedAt time.Time
}

// Default returns the settings of an organization that has changed none.
func Default() Settings { return Settings{Language: "en", UnsubscribeFooter: true} }

// Language is a language of footers and public pages. Name is its name in the language
// itself.
type Language struct{ Tag, Name string }

// Languages are the languages that an organization can choose, the default first.
var Languages = []Language{
	{"en", "English"}, {"de", "Deutsch"}, {"es", "Español"}, {"fr", "Français"}, {"it", "Italiano"}, {"nl", "Nederlands"}, {"pt", "Português"},
}

// The limits of settings.
const (
	// MaxAddress is the maximum length of the postal address, in characters. MaxLines is the
	// maximum number of its lines.
	MaxAddress = 400
	MaxLines   = 8
	// MaxURL is the maximum length of the address of assets, in bytes.
	MaxURL = 300
)

// Checked returns the settings as they are stored: lines of the postal address without
// white space around them, and the address of assets without a "/" at its end. It fails
// with core.CodeValidationFailed for a value that a setting cannot have. Checked does not
// change settings that it returned.
func (s Settings) Checked() (Settings, error) {
	var faults []core.FieldError
	if !slices.ContainsFunc(Languages, func(l Language) bool { return l.Tag == s.Language }) {
		faults = append(faults, core.FieldError{Field: "language", Reason: "must be one of en, de, es, fr, it, nl and pt"})
	}
	s.PostalAddress = trimLines(s.PostalAddress)
	if reason := addressFault(s.PostalAddress); reason != "" {
		faults = append(faults, core.FieldError{Field: "postal_address", Reason: reason})
	}
	var reason string
	if s.AssetBaseURL, reason = checkBase(strings.TrimSpace(s.AssetBaseURL)); reason != "" {
		faults = append(faults, core.FieldError{Field: "asset_base_url", Reason: reason})
	}
	if len(faults) > 0 {
		return s, core.InvalidFields(faults...)
	}
	return s, nil
}

// trimLines returns the lines of a text that are not blank, without white space around
// them.
func trimLines(text string) string {
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// addressFault returns the reason why a postal address is refused, or "".
func addressFault(address string) string {
	_, hidden := core.VisibleText(address)
	switch {
	case hidden > 0 || !utf8.ValidString(address) || strings.Contains(address, "\t"):
		return "must have visible characters only"
	case utf8.RuneCountInString(address) > MaxAddress:
		return fmt.Sprintf("must have at most %d characters", MaxAddress)
	case strings.Count(address, "\n") >= MaxLines:
		return fmt.Sprintf("must have at most %d lines", MaxLines)
	case strings.ContainsAny(address, `{}\`):
		return "must not have braces or backslashes, which templates use for variables"
	}
	return ""
}

// checkBase returns the address of assets as it is stored, or the reason why it is refused.
func checkBase(address string) (base, reason string) {
	if address == "" {
		return "", ""
	}
	if len(address) > MaxURL {
		return address, fmt.Sprintf("must have at most %d bytes", MaxURL)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "" || strings.ContainsAny(address, "{}\\\"'<>` ") {
		return address, "must be an https address, such as https://assets.example.com/mail"
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(address, "#") {
		return address, "must not have a user, a query or a fragment"
	}
	return strings.TrimRight(u.String(), "/"), ""
}
