package privacy

import (
	"strings"

	"github.com/mailhelm/mailhelm/core/retention"
)

// withContact is the lifetime of what belongs to a contact.
const withContact = "as long as the contact"

// audience has the tables about contacts.
func audience() []Table {
	slots := "s1 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 s12 s13 s14 s15 s16 n1 n2 n3 n4 n5 n6 n7 n8 n9 n10 n11 n12 n13 n14 n15 n16 t1 t2 t3 t4 t5 t6 t7 t8"
	return []Table{
		{
			Name: "account_notes", Of: Recipient, Title: "Writes to the sending account in progress", Find: []Match{{"contact_id", ByContact}}, Erase: Delete,
			Data: []Column{{Name: "contact_id", Holds: "id of the contact"}, {Name: "put", Holds: "consent"}}, Other: "org_id id noted_at", Kept: "seconds; an interrupted write longer, until a sync has read the account",
		},
		{
			Name: "activities", Of: Recipient, Title: "Activities", Find: []Match{{"contact_id", ByContact}}, Erase: Delete,
			Data:  []Column{{Name: "contact_id", Holds: "id of the contact"}, {Name: "name", Holds: "what the person did"}, {Name: "properties", Holds: "details of the activity"}},
			Other: "org_id occurred_at id source received_at", Kept: "365 days, or the retention of the plan if it is shorter",
		},
		{
			Name: "activity_claims", Of: Recipient, Title: "Activities that count once", Find: []Match{{"contact_id", ByContact}}, Erase: Delete,
			Data: []Column{{Name: "contact_id", Holds: "id of the contact"}}, Other: "org_id name activity_id claimed_at", Kept: withContact,
		},
		{
			Name: "activity_keys", Of: Recipient, Title: "Keys of activities", Find: []Match{{"contact_id", ByContact}}, Erase: Delete,
			Data: []Column{{Name: "contact_id", Holds: "id of the contact"}, {Name: "key", Holds: "key that the sender of the activity chose"}}, Other: "org_id activity_id expires_at", Kept: "24 hours",
		},
		{
			Name: "consent_contacts", Of: Recipient, Title: "Consent, for an account that is an SMTP server", Find: []Match{{"email_key", ByKey}}, Erase: Delete,
			Data: []Column{
				{Name: "email", Holds: "address"},
				{Name: "email_key", Holds: "address"},
				{Name: "unsubscribe_all", Holds: "opt-out"},
				{Name: "preferences", Holds: "topics"},
			},
			Other: "org_id position updated_at", Kept: "until the contact is erased; an archived contact only with an opt-out",
		},
		{
			Name: "contact_pushes", Of: Recipient, Title: "Consent on its way to the sending account", Find: []Match{{"contact_id", ByContact}}, Erase: Delete,
			Data: []Column{{Name: "contact_id", Holds: "id of the contact"}, {Name: "said", Holds: "consent"}}, Other: "org_id queued_at attempts next_at", Kept: "until the account has it",
		},
		{
			Name: "contact_slots", Of: Recipient, Title: "Attributes, as segments read them", Find: []Match{{"contact_id", ByContact}}, Erase: Delete,
			Data: columns("attribute", "contact_id "+slots+" long_texts"), Other: "org_id", Kept: withContact,
		},
		{
			Name: "contact_topics", Of: Recipient, Title: "Topics", Find: []Match{{"contact_id", ByContact}}, Erase: Delete,
			Data: []Column{{Name: "contact_id", Holds: "id of the contact"}, {Name: "topic", Holds: "topic"}, {Name: "subscription", Holds: "choice"}}, Other: "org_id", Kept: withContact,
		},
		{
			Name: "visitor_ids", Of: Recipient, Title: "Visitor id", Find: []Match{{"contact_id", ByContact}}, Erase: Delete,
			Data: []Column{
				{Name: "contact_id", Holds: "id of the contact"},
				{Name: "hash", Holds: "hash of the visitor id", Secret: true},
				{Name: "sealed", Holds: "encrypted visitor id", Secret: true},
			},
			Other: "org_id issued_at", Kept: withContact,
		},
		// The contact comes after the tables that refer to it.
		{
			Name: "contacts", Of: Recipient, Title: "Contact", Find: []Match{{"id", ByContact}, {"email_key", ByKey}}, Erase: Delete,
			Data: []Column{
				{Name: "id", Holds: "id"},
				{Name: "email", Holds: "address"},
				{Name: "email_key", Holds: "address"},
				{Name: "external_id", Holds: "id in the organization's own system"},
				{Name: "attributes", Holds: "attributes"},
				{Name: "topic_preferences", Holds: "topics"},
				{Name: "unsubscribe_all", Holds: "opt-out"},
				{Name: "consent_changes", Holds: "when and how consent changed"},
			},
			Other: "org_id status shell stub created_at updated_at", Kept: "until the contact is erased; archived ones " + retention.Kept(retention.ArchivedContacts),
		},
	}
}

// columns returns columns that hold the same.
func columns(holds, names string) []Column {
	var all []Column
	for _, name := range strings.Fields(names) {
		all = append(all, Column{Name: name, Holds: holds})
	}
	return all
}
