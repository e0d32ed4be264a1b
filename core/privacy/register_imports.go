package privacy

// imports has the tables with contacts as they were sent, in bulk writes and in files.
func imports() []Table {
	return []Table{
		{
			Name: "bulk_chunks", Of: Recipient, Title: "Bulk writes", Find: []Match{{"content", ByMention}, {"outcomes", ByMention}}, Erase: Rewrite, Key: "job_id first_index",
			Data:  []Column{{Name: "content", Holds: "rows as they were sent", Change: Items}, {Name: "outcomes", Holds: "outcome of each row", Change: Outcomes}},
			Other: "org_id job_id first_index size", Kept: "7 days after the end of the bulk write",
		},
		{
			Name: "contact_upload_chunks", Of: Recipient, Title: "Files that were uploaded for imports", Find: []Match{{"content", ByBytes}}, Erase: Delete, Key: "upload_id kind position",
			Data: []Column{{Name: "content", Holds: "part of a file of contacts"}}, Other: "org_id upload_id kind position", Kept: "files 24 hours, rejected rows 7 days",
		},
		{
			Name: "contact_uploads", Of: Recipient, Title: "Previews of imports", Find: []Match{{"sample", ByMention}, {"checked", ByMention}, {"imported", ByMention}}, Erase: Rewrite, Key: "id",
			Data: []Column{
				{Name: "sample", Holds: "first rows of the file", Change: Rows},
				{Name: "checked", Holds: "result and first rows", Change: Rows},
				{Name: "imported", Holds: "result", Change: Rows},
				{Name: "uploaded_by", Holds: "id of the user", Of: User},
			},
			Other: "org_id id file_name size status settings problem attempts created_at completed_at claimed_until claimed_by", Kept: "30 days",
		},
	}
}
