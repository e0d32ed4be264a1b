package arrivals

import (
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
)

// Kept is how long files are kept that are held, and how long the list of files goes back.
const Kept = 90 * 24 * time.Hour

// The origins of files.
const (
	// Mail is that of files that came in messages.
	Mail = "mail"
	// Bucket is that of objects in a bucket of the organization.
	Bucket = "bucket"
	// Import is that of files that an operator imported.
	Import = "import"
)

// State is what was done with a file.
type State string

// The states of files.
const (
	// Waiting files are read next.
	Waiting State = "waiting"
	// Held files wait for a person who accepts the reporter.
	Held State = "held"
	// Read files were read. Their reports are counted, or were counted before.
	Read State = "read"
	// Failed files are no reports, or cannot be read.
	Failed State = "failed"
)

// File is a file that may have reports. Its texts come from the sender of the message.
type File struct {
	OrgID, ID string
	// DomainID is the domain to which the message was addressed, "" for other origins.
	DomainID string
	Origin   string
	// Name is the file name of the attachment, "" if it has none or if the text of the message is
	// the file.
	Name      string
	MessageID string
	// Sender is the address of From, "" if the message has none.
	Sender string
	// Reporter is who wrote the report as the report states it. Before the first attempt to read
	// the file, and for one that cannot be read, it is the domain of Sender.
	Reporter string
	// Verdicts has the verdicts about the message, nil for other origins.
	Verdicts *inbound.Verdicts
	State    State
	// Problem says why a file is held or could not be read, or what is wrong with one that was
	// read, "" for nothing.
	Problem string
	Stored  Stored
	Size    int64
	Counts  Counts
	// Attempts counts the claims. It is the fencing token: only the process of the last claim may
	// change the file.
	Attempts int
	// DueAt is the time of the next attempt, zero if none follows. For a held file it is the end of
	// the time for which it is kept.
	DueAt                 time.Time
	ReceivedAt, UpdatedAt time.Time
}

// Stored says where a file is while it may be read again. It is the zero value afterwards.
type Stored struct {
	// StoreID and Key name the object with the file.
	StoreID, Key string
	// InText is true if the object is the whole message, and its text is the file.
	InText bool
	// Others has the keys of the other objects of the message, which are deleted with the file.
	// One file of a message has them.
	Others []string
}

// keys returns the keys of all objects.
func (s Stored) keys() []string {
	if s.Key == "" {
		return s.Others
	}
	return append([]string{s.Key}, s.Others...)
}

// Counts says what a file had.
type Counts struct {
	// Reports is the number of reports that were taken, Duplicates of those that were known,
	// TLSReports of reports about SMTP TLS (RFC 8460), and Foreign of those about other domains.
	Reports, Duplicates, TLSReports, Foreign int
}

// Decision is what a person decided about a reporter.
type Decision string

// The decisions. Files of accepted reporters count, also those that are held already. Files of
// rejected reporters are held, also if DMARC passed.
const (
	Undecided Decision = ""
	Accepted  Decision = "accepted"
	Rejected  Decision = "rejected"
)
