package privacy

import "github.com/mailhelm/mailhelm/core/retention"

// memberships has the tables about contacts on lists and in segments.
func memberships() []Table {
	return []Table{
		{
			Name: "list_members", Of: Recipient, Title: "Lists", Find: []Match{{"contact_id", ByContact}}, Erase: Delete,
			Data: []Column{{Name: "contact_id", Holds: "id of the contact"}, {Name: "list_id", Holds: "list"}}, Other: "org_id added_at", Kept: withContact,
		},
		{
			Name: "membership_log", Of: Recipient, Title: "Changes of lists and segments", Find: []Match{{"contact_id", ByContact}}, Erase: Rewrite, Key: "occurred_at id",
			Data: []Column{{Name: "contact_id", Holds: "id of the contact", Change: PseudonymID}}, Other: "org_id occurred_at id set_kind set_id entered", Kept: retention.Kept(retention.MembershipLog),
		},
		{
			Name: "segment_members", Of: Recipient, Title: "Segments", Find: []Match{{"contact_id", ByContact}}, Erase: Delete,
			Data: []Column{{Name: "contact_id", Holds: "id of the contact"}, {Name: "segment_id", Holds: "segment"}}, Other: "org_id entered_at", Kept: withContact,
		},
		{
			Name: "segment_touched", Of: Recipient, Title: "Contacts that segments look at next", Find: []Match{{"contact_id", ByContact}}, Erase: Delete,
			Data: []Column{{Name: "contact_id", Holds: "id of the contact"}}, Other: "org_id id", Kept: "seconds",
		},
	}
}
