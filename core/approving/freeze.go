package approving

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/broadcasts"
)

// DigestOf returns the hash of what a person approves: what the messages share, the list or
// segment with the chosen share of it, and the topic. Two sends with the same hash differ at
// most in the members of the audience and in their attributes.
func DigestOf(b broadcasts.Broadcast, p broadcasts.SendPreview) (string, error) {
	text, err := json.Marshal(struct {
		Content string
		Target  broadcasts.Target
		Topic   string
	}{p.Content, b.Target, b.Topic})
	if err != nil {
		return "", fmt.Errorf("approving: digest: %w", err)
	}
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:]), nil
}

// Freeze returns the preview of a send for storing it with an approval.
func Freeze(p broadcasts.SendPreview) approvals.Preview {
	frozen := approvals.Preview{
		Name: p.Name, Audience: p.Audience, AudienceKind: p.AudienceKind, AudienceSize: p.AudienceSize, Mailable: p.Mailable,
		ByAccount: p.ByAccount, ByTopic: p.ByTopic, Topic: p.Topic, From: p.From, Subject: p.Subject,
	}
	for _, b := range p.Blank {
		frozen.Blank = append(frozen.Blank, approvals.Blank(b))
	}
	return frozen
}

// callerOf returns the author of a send as the caller that asked for it.
func callerOf(by broadcasts.Author) approvals.Caller {
	return approvals.Caller{Kind: core.CredentialKind(by.Kind), ID: by.ID, UserID: by.UserID}
}

// authorOf returns the caller that asked for a send as an author.
func authorOf(c approvals.Caller) broadcasts.Author {
	return broadcasts.Author{Kind: string(c.Kind), ID: c.ID, UserID: c.UserID}
}

// voidWords are the causes in words, for people and for callers.
var voidWords = map[broadcasts.VoidCause]string{
	broadcasts.VoidedByEdit:   "The broadcast was edited.",
	broadcasts.VoidedByCancel: "The broadcast was cancelled.",
	broadcasts.VoidedByDelete: "The broadcast was deleted.",
	broadcasts.VoidedBySend:   "The broadcast was sent by a caller who needs no approval.",
	broadcasts.VoidedByAsking: "The send was asked for again, with other content or for another time.",
}

// ReasonOf returns the reason of the decision as a text, "" for none.
func ReasonOf(a approvals.Approval) string {
	if a.State == approvals.Voided {
		return voidWords[broadcasts.VoidCause(a.Reason)]
	}
	return a.Reason
}
