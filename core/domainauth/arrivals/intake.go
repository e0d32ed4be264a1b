package arrivals

import (
	"context"
	"io"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// Intake stores what files say. It counts a report once, however often it is read.
type Intake interface {
	// ReporterOf returns the name under which a report counts.
	ReporterOf(r *report.Report) string
	// Read reads a file that was mailed to the address of a domain. domain is "" for a file that an
	// operator chose: then reports about all domains that the organization may send from count. open opens the file from its
	// beginning, and may be called several times. Read fails with the errors of report.Unpack for
	// content that cannot be read; after any other error the file is to be read again.
	Read(ctx context.Context, f File, domain string, open func() (io.ReadCloser, error)) (Found, error)
}

// Found says what an [Intake] found in a file.
type Found struct {
	Counts
	// Unusable is the number of reports without a usable period.
	Unusable int
}
