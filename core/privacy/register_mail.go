package privacy

import "github.com/mailhelm/mailhelm/core/retention"

// mail has the tables about sent mail.
func mail() []Table {
	return []Table{
		{
			Name: "handover_recipients", Of: Recipient, Title: "Mail that was or will be sent", Find: []Match{{"recipient", ByContact}, {"email", BySpelling}}, Erase: Rewrite, Key: "send_id recipient",
			Data: []Column{
				{Name: "recipient", Holds: "id of the contact", Change: PseudonymID},
				{Name: "email", Holds: "address", Change: PseudonymAddress},
				{Name: "reason", Holds: "answer of the account", Change: Blank},
			},
			Other: "org_id send_id state attempt claimed_by changed_at not_before message_id tier created_at", Kept: retention.Kept(retention.Recipients),
		},
		{
			Name: "messages", Of: Recipient, Title: "Messages", Find: []Match{{"recipient", BySpelling}}, Erase: Rewrite, Key: "id",
			Data: []Column{
				{Name: "recipient", Holds: "address", Change: PseudonymAddress}, {Name: "subject", Holds: "subject", Change: Blank},
			},
			Other: "org_id id sender identity sent_at status rank last_event_at channel template test", Kept: "365 days",
		},
		{
			Name: "message_events", Of: Recipient, Title: "Events of messages", Find: []Match{{"recipient_key", ByKey}}, Erase: Rewrite, Key: "occurred_at id",
			Data: []Column{
				{Name: "recipient", Holds: "address", Change: PseudonymAddress},
				{Name: "recipient_key", Holds: "address", Change: PseudonymAddress},
				{Name: "metadata", Holds: "network address, browser, link, answer of the mail server", Change: Null},
			},
			Other: "org_id occurred_at id message_id type bounce_type bounce_sub_type channel identity template test recorded_at", Kept: "365 days",
		},
		{
			Name: "message_recipients", Of: Recipient, Title: "Recipients of messages", Find: []Match{{"recipient", BySpelling}}, Erase: Rewrite, Key: "recipient sent_at message_id",
			Data:  []Column{{Name: "recipient", Holds: "address", Change: PseudonymAddress}},
			Other: "org_id sent_at message_id", Kept: "365 days",
		},
		{
			Name: "replay_records", Of: Recipient, Title: "Results of calls, for repeated calls", Find: []Match{{"subject", ByContact}, {"key", ByMention}, {"result", ByBytes}}, Erase: Delete, Key: "space key",
			Data: []Column{
				{Name: "subject", Holds: "id of the contact"}, {Name: "key", Holds: "idempotency key"}, {Name: "result", Holds: "answer of the call", Secret: true},
			},
			Other: "org_id space digest token done expires_at process caller called_at", Kept: retention.Kept(retention.Replay),
		},
		{
			Name: "send_approvals", Of: Recipient, Title: "Previews of broadcasts that wait for approval", Find: []Match{{"preview", ByMention}}, Erase: Rewrite, Key: "id",
			Data: []Column{
				{Name: "preview", Holds: "preview for a recipient", Change: Rows},
				{Name: "asked_user", Holds: "id of the user", Of: User},
				{Name: "asked_by", Holds: "id of the user or the credential", Of: User},
				{Name: "decided_by", Holds: "id of the user", Of: User},
				{Name: "reason", Holds: "words of the user", Of: User},
			},
			Other: "org_id id broadcast_id state asked_kind requested_at expires_at revision scheduled_at digest decided_at approved_size", Kept: "as long as the organization",
		},
		{
			Name: "suppressed_addresses", Of: Recipient, Title: "Suppression by the sending account", Find: []Match{{"email_key", ByKey}}, Erase: Delete,
			Data: []Column{{Name: "email_key", Holds: "address"}}, Other: "org_id", Kept: "as long as the account suppresses the address",
		},
		{
			Name: "undeliverable", Of: Recipient, Title: "Undeliverable address", Find: []Match{{"email_key", ByKey}}, Erase: Delete,
			Data: []Column{
				{Name: "email_key", Holds: "address"}, {Name: "email", Holds: "address"}, {Name: "exclusion_reason", Holds: "words of a user"},
			},
			Other: "org_id id status reason first_seen_at last_seen_at last_changed_at event_count excluded_at forgiven_at", Kept: retention.Kept(retention.Undeliverable),
		},
		{
			Name: "webhook_deliveries", Of: Recipient, Title: "Events that were sent to webhooks", Find: []Match{{"recipient", BySpelling}}, Erase: Delete,
			Data: []Column{
				{Name: "recipient", Holds: "address"}, {Name: "body", Holds: "event"}, {Name: "answer", Holds: "answer of the endpoint"},
			},
			Other: "org_id endpoint_id id event_type message_id test state attempts tries created_at due_at answered_at status problem", Kept: "30 days",
		},
	}
}
