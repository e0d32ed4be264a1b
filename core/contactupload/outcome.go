package contactupload

// The statuses of rows that pages tell apart. They are those of core/bulk.
const (
	RowCreated  = "created"
	RowUpdated  = "updated"
	RowRejected = "failed"
)

// Outcome is what an import did with one row.
type Outcome struct {
	// Status is RowCreated, RowUpdated, RowRejected or another status of a row in core/bulk.
	Status string `json:"status"`
	// NotMailable is true if the contact cannot be sent mail after the row.
	NotMailable bool `json:"not_mailable,omitempty"`
	// Reason says why the row was rejected, "" for an accepted row.
	Reason string `json:"reason,omitempty"`
}

// Summary counts the rows of one import by their outcome.
type Summary struct {
	Rows     int `json:"rows"`
	Created  int `json:"created"`
	Updated  int `json:"updated"`
	Rejected int `json:"rejected"`
	// RejectedLines are the line numbers, from 1, at which the first ten rejected rows
	// begin.
	RejectedLines []int `json:"rejected_lines"`
	// NotMailable counts the accepted rows whose contact cannot be sent mail. The contact
	// has opted out of everything, or is a stub: only activities have named it so far.
	NotMailable int `json:"not_mailable"`
	// NotMailableLines are the line numbers, from 1, at which the first ten rows counted by
	// NotMailable begin.
	NotMailableLines []int `json:"not_mailable_lines"`
	// DoneBefore counts the rows that an earlier run of the same file imported. The other
	// fields count these rows too.
	DoneBefore int `json:"done_before"`
	// Bytes is the number of bytes of the file up to the end of the last row that was
	// counted. Bytes that were only read ahead are not included.
	Bytes int64 `json:"-"`
}
