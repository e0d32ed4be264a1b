package broadcasts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// sendPreview computes what sending the broadcast would do now.
func (b *Broadcasts) sendPreview(ctx context.Context, orgID string, of Broadcast, at *time.Time) (SendPreview, error) {
	audience, err := b.Audiences.Audience(ctx, orgID, of.AudienceKind, of.AudienceID)
	if err != nil {
		return SendPreview{}, err
	}
	reach, err := b.Audience.Reach(ctx, orgID, of.Target, of.Topic)
	if err != nil {
		return SendPreview{}, err
	}
	content, err := b.content(ctx, orgID, of)
	if err != nil {
		return SendPreview{}, err
	}
	resolutions, err := b.resolve(ctx, orgID, of, reach.Size)
	if err != nil {
		return SendPreview{}, err
	}
	blank := []BlankVariable{}
	for _, r := range resolutions {
		if r.Blank > 0 {
			blank = append(blank, BlankVariable{r.Variable, r.Blank})
		}
	}
	encoded, err := json.Marshal(content)
	if err != nil {
		return SendPreview{}, fmt.Errorf("broadcasts: content: %w", err)
	}
	hash := sha256.Sum256(encoded)
	return SendPreview{
		Name: of.Name, Audience: audience.Name, AudienceKind: string(of.AudienceKind), AudienceSize: reach.Size, Mailable: reach.Mailable,
		ByAccount: reach.ByAccount, ByTopic: reach.ByTopic, Topic: orNull(of.Topic), From: content.From, Subject: content.Subject,
		ScheduledAt: at, Blank: blank, Content: hex.EncodeToString(hash[:]), Revision: of.Revision,
	}, nil
}

// Sentence says in a few sentences what the send would do. Agents and people see the same
// text.
func (p SendPreview) Sentence() string {
	when := "now"
	if p.ScheduledAt != nil {
		when = "at " + p.ScheduledAt.UTC().Format(time.RFC3339)
	}
	topic := "without a topic"
	if p.Topic != nil {
		topic = "with the topic " + core.Quote(*p.Topic)
	}
	var s strings.Builder
	fmt.Fprintf(&s, "Send %s %s to %d of the %d members of the %s %s, %s, from %s, with the subject %s.",
		core.Quote(p.Name), when, p.Mailable, p.AudienceSize, p.AudienceKind, core.Quote(p.Audience), topic, core.Quote(p.From), core.Quote(p.Subject))
	if p.ByAccount > 0 {
		fmt.Fprintf(&s, " %d get nothing because they are suppressed or opted out of all mail.", p.ByAccount)
	}
	if p.ByTopic > 0 {
		fmt.Fprintf(&s, " %d get nothing because they opted out of the topic.", p.ByTopic)
	}
	if len(p.Blank) > 0 {
		var parts []string
		for _, v := range p.Blank[:min(len(p.Blank), maxNamedBlank)] {
			parts = append(parts, fmt.Sprintf("%s for %d", core.Quote(v.Variable), v.Members))
		}
		fmt.Fprintf(&s, " Blank in the message: %s.", strings.Join(parts, ", "))
	}
	if p.NeedsApproval {
		s.WriteString(" Nothing is sent before a person approves it.")
	}
	return s.String()
}

// maxNamedBlank is the number of blank variables that the sentence names. The preview has
// all of them.
const maxNamedBlank = 5
