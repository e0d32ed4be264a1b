package privacy

// received has the tables about mail that was received, and about inboxes.
func received() []Table {
	return []Table{
		{
			Name: "inbox_messages", Of: Correspondent, Title: "Mail in temporary inboxes", Find: []Match{{"message", ByMention}}, Erase: Delete, Key: "inbox_id seq",
			Data: []Column{
				{Name: "message", Holds: "message"}, {Name: "extracted", Holds: "codes and links of the message"}, {Name: "recipients", Holds: "addresses of inboxes"},
			},
			Other: "org_id inbox_id seq message_id bytes", Kept: "as long as the inbox",
		},
		{
			Name: "inboxes", Of: User, Title: "Temporary inboxes",
			Data: []Column{
				{Name: "owner", Holds: "id of the user"},
				{Name: "caller", Holds: "credential"},
				{Name: "account_ref", Holds: "reference to an account"},
				{Name: "label", Holds: "words of the user"},
				{Name: "allowed_senders", Holds: "verified senders"},
			},
			Other: "org_id id local_part visibility restriction token_id message_count dropped_count created_at expires_at deleted_at ends_at purged_at stored_bytes", Kept: "30 days after the end of the inbox",
		},
		{
			Name: "receiving_contents", Of: Correspondent, Title: "Content of received mail", Find: []Match{{"content", ByMention}}, Erase: Delete, Key: "message_id",
			Data: []Column{{Name: "content", Holds: "message"}}, Other: "org_id message_id expires_at", Kept: "30 days",
		},
		{
			Name: "receiving_deliveries", Of: Correspondent, Title: "Deliveries of received mail to webhooks", Find: []Match{{"entities", ByMention}}, Erase: Delete, Key: "domain_id id",
			Data:  []Column{{Name: "entities", Holds: "what the message names"}, {Name: "recipients", Holds: "addresses of the organization"}},
			Other: "org_id domain_id id message_id attempts tries due_at", Kept: "30 days",
		},
		{
			Name: "receiving_messages", Of: Correspondent, Title: "Received mail", Find: []Match{{"sender_key", ByKey}}, Erase: Rewrite, Key: "id",
			Data: []Column{
				{Name: "sender", Holds: "address", Change: PseudonymAddress},
				{Name: "sender_key", Holds: "address", Change: PseudonymAddress},
				{Name: "subject", Holds: "subject", Change: Blank},
			},
			Other: "org_id id domain_id domain message_id recipients recipient_keys verdicts outcome test size received_at updated_at", Kept: "30 days",
		},
		{
			Name: "receiving_states", Of: Correspondent, Title: "Deliveries of received mail", Find: []Match{{"detail", ByMention}}, Erase: Rewrite, Key: "message occurred_at id",
			Data: []Column{{Name: "detail", Holds: "answer of the webhook", Change: Redact}}, Other: "org_id message id state occurred_at http_status", Kept: "30 days",
		},
		{
			Name: "received_mail", Of: Correspondent, Title: "Mail that is being processed", Find: []Match{{"envelope", ByMention}}, Erase: Delete, Key: "id",
			Data: []Column{{Name: "envelope", Holds: "sender and recipients"}}, Other: "org_id id store_id raw_key discard received_at attempts due_at", Kept: "seconds",
		},
		{
			Name: "domainauth_files", Of: Correspondent, Title: "Mail with DMARC reports", Find: []Match{{"sender", BySpelling}}, Erase: Rewrite, Key: "id",
			Data:  []Column{{Name: "sender", Holds: "address", Change: PseudonymAddress}},
			Other: "org_id id domain_id origin name message_id reporter verdicts state problem store_id object_key in_text others size reports duplicates tls_reports foreign_reports attempts due_at received_at updated_at", Kept: "90 days",
		},
	}
}
