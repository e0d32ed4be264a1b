package broadcasts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/composition"
)

// NoTopicWarning says what a send without a topic means.
const NoTopicWarning = "The broadcast has no topic, so everyone in the audience who gets mail at all gets it, and its unsubscribe link ends all mail of the organization."

// warnings returns what an author should know before the broadcast is sent, as whole
// sentences. None of them prevents sending.
func (b *renderer) warnings(ctx context.Context, orgID string, of Broadcast, reach Reach) ([]string, error) {
	warnings := []string{}
	if of.Topic == "" {
		warnings = append(warnings, NoTopicWarning)
	}
	if reach.Mailable == 0 {
		warnings = append(warnings, "No member of the audience would get it now.")
	}
	audience, err := b.Audiences.Audience(ctx, orgID, of.AudienceKind, of.AudienceID)
	switch {
	case core.IsNotFound(err):
		warnings = append(warnings, "The "+string(of.AudienceKind)+" was deleted or archived, so the broadcast cannot be sent.")
	case err != nil:
		return nil, err
	case audience.Warning != "":
		warnings = append(warnings, audience.Warning)
	}
	more, err := b.contentWarnings(ctx, orgID, of)
	return append(warnings, more...), err
}

// contentWarnings returns warnings about the sender and the variables.
func (b *renderer) contentWarnings(ctx context.Context, orgID string, of Broadcast) ([]string, error) {
	content, err := b.content(ctx, orgID, of)
	if isRefusal(err) {
		return []string{"The content cannot be sent: " + core.AsError(err).Message}, nil
	}
	if err != nil {
		return nil, err
	}
	var warnings []string
	if content.From == "" {
		warnings = append(warnings, "There is no sender: the organization has no verified domain, and the broadcast names no verified address.")
	}
	mail, err := content.Compile()
	if isRefusal(err) {
		return append(warnings, "The content cannot be sent: "+core.AsError(err).Message), nil
	}
	if err != nil {
		return nil, err
	}
	registry, err := b.Registry.AttributeNames(ctx, orgID)
	if err != nil {
		return nil, err
	}
	if unknown := unknownVariables(mail, registry, of.Data); len(unknown) > 0 {
		warnings = append(warnings, fmt.Sprintf("No recipient has a value for %s: no attribute has the name, and `template_data` neither. Correct the names, or give the values.", core.QuotedList(unknown)))
	}
	return warnings, nil
}

// isRefusal reports whether err is the fault of the content and not of Mailhelm.
func isRefusal(err error) bool {
	if err == nil {
		return false
	}
	code := core.AsError(err).Code
	return code == core.CodeValidationFailed || code == core.CodeNotFound
}

// unknownVariables returns the variables that neither an attribute nor the data names.
func unknownVariables(mail *composition.Mail, registry []string, data map[string]any) []string {
	var unknown []string
	for _, name := range mail.Variables() {
		first, _, _ := strings.Cut(name, ".")
		if _, given := data[first]; !given && !slices.Contains(registry, first) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}
