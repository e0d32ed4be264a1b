package arrivals

import (
	"context"
	"io"
	"time"
)

// Intake stores what a file says. It must count a report once, however often it is read.
type Intake interface {
	// Read reads a file to its end. An error means that it should be read again later, unless it is
	// one of package report.
	Read(ctx context.Context, t IntakeTarget, file io.Reader) (IntakeResult, error)
}

// IntakeTarget says where a file came from.
type IntakeTarget struct {
	OrgID, DomainID, Domain string
	FileID, Origin          string
	ReceivedAt              time.Time
}

// IntakeResult is what an [Intake] found in a file.
type IntakeResult struct {
	Counts
	// Problems are texts for people about what could not be read.
	Problems []string
}
