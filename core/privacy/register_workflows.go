package privacy

import "github.com/mailhelm/mailhelm/core/retention"

// workflows has the tables about persons in workflows.
func workflows() []Table {
	return []Table{
		{
			Name: "workflow_entries", Of: Recipient, Title: "Workflows to enter", Find: []Match{{"contact_id", ByContact}}, Erase: Delete,
			Data: []Column{{Name: "contact_id", Holds: "id of the contact"}, {Name: "source_key", Holds: "key of the activity"}}, Other: "org_id workflow_id id cause occurred_at", Kept: "seconds",
		},
		{
			Name: "workflow_mails", Of: Recipient, Title: "Mail of workflows", Find: []Match{{"contact_id", ByContact}}, Erase: Rewrite, Key: "send_id id",
			Data: []Column{{Name: "contact_id", Holds: "id of the contact", Change: PseudonymID}}, Other: "org_id send_id id run_id at state", Kept: "as long as the workflow",
		},
		{
			Name: "workflow_events", Of: Recipient, Title: "Steps of workflows", Find: []Match{{"detail", ByMention}}, Erase: Rewrite, Key: "workflow_id run_id id",
			Data: []Column{{Name: "detail", Holds: "detail of the step", Change: Redact}}, Other: "org_id workflow_id run_id id version node_path event_type occurred_at iteration arm tier reason exit_kind exit_name", Kept: retention.Kept(retention.Timelines),
		},
		{
			Name: "workflow_runs", Of: Recipient, Title: "Runs of workflows", Find: []Match{{"contact_id", ByContact}}, Erase: Rewrite, Key: "workflow_id id",
			Data: []Column{
				{Name: "contact_id", Holds: "id of the contact", Change: PseudonymID}, {Name: "source_key", Holds: "key of the activity", Change: Blank},
			},
			Other: "org_id workflow_id id version status node_path phase until_at wake_at on_change passed passes cause started_at completed_at exit_kind exit_name faults", Kept: "as long as the workflow",
		},
		{
			Name: "workflow_touched", Of: Recipient, Title: "Contacts that workflows look at next", Find: []Match{{"contact_id", ByContact}}, Erase: Delete,
			Data: []Column{{Name: "contact_id", Holds: "id of the contact"}}, Other: "org_id id", Kept: "seconds",
		},
	}
}
