package receiving

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/standardhooks"
)

// WebhookStatus says whether receivers of mail use the webhook.
type WebhookStatus string

// The states of a webhook. Unset is the state of a domain without one, so no webhook in an
// answer has it.
const (
	Unset     WebhookStatus = "unset"
	Pending   WebhookStatus = "pending"
	Published WebhookStatus = "published"
	// Invalid means that the URL was refused when it was checked again to be published. Mail is
	// not delivered until a webhook is saved.
	Invalid WebhookStatus = "invalid"
)

// Webhook is the endpoint to which the mail of a domain is sent, and which mail that is.
type Webhook struct {
	URL           string        `json:"url" voice:"untrusted"`
	AllowPatterns []string      `json:"allow_patterns" voice:"untrusted" jsonschema_description:"Globs of local parts. Mail to others is logged as no_route. Empty: all mail is delivered."`
	SpamPosture   Posture       `json:"spam_posture" jsonschema:"enum=tag,enum=drop" jsonschema_description:"What happens to mail with the spam verdict FAIL: tag delivers it with its verdict, drop does not deliver it."`
	VirusPosture  Posture       `json:"virus_posture" jsonschema:"enum=tag,enum=drop" jsonschema_description:"The same for the virus verdict."`
	Status        WebhookStatus `json:"status" jsonschema:"enum=unset,enum=pending,enum=published,enum=invalid" jsonschema_description:"pending: in use within seconds, once the domain is verified. invalid: the URL was refused when it was published; save another."`
	PublishedAt   *time.Time    `json:"published_at" jsonschema:"nullable"`
	Error         *string       `json:"error" voice:"ours" jsonschema:"nullable" jsonschema_description:"Why the webhook is invalid."`
}

// Limits of the patterns of a webhook.
const (
	maxPatterns = 1000
	maxPattern  = 64 // characters; no local part is longer
)

// checkPatterns returns patterns in their stored form: in lower case, without repetitions. It
// fails with core.CodeValidationFailed on the field "allow_patterns".
func checkPatterns(patterns []string) ([]string, error) {
	checked := make([]string, 0, len(patterns))
	for i, p := range patterns {
		p = strings.ToLower(strings.TrimSpace(p))
		if reason := faultOfPattern(p); reason != "" {
			return nil, core.Invalid(fmt.Sprintf("allow_patterns.%d", i), reason)
		}
		if !slices.Contains(checked, p) {
			checked = append(checked, p)
		}
	}
	if len(checked) > maxPatterns {
		return nil, core.Invalid("allow_patterns", fmt.Sprintf("must have at most %d patterns", maxPatterns))
	}
	return checked, nil
}

func faultOfPattern(p string) string {
	switch {
	case p == "" || utf8.RuneCountInString(p) > maxPattern:
		return fmt.Sprintf("must have 1 to %d characters", maxPattern)
	case strings.Contains(p, "@"):
		return "must be a pattern of local parts, without @ and the domain, such as support-*"
	case strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == utf8.RuneError }):
		return "must have only visible characters"
	}
	return ""
}

// checkURL fails with core.CodeValidationFailed on the field "webhook_url" for a URL that
// cannot receive webhooks. It resolves no name.
func checkURL(url string, networks bool) error {
	if err := standardhooks.CheckURL(url, networks); err != nil {
		return core.Invalid("webhook_url", core.AsError(err).Fields[0].Reason)
	}
	return nil
}
