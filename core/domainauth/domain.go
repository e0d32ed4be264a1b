package domainauth

import (
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
)

// RetentionDays is the number of UTC days, today among them, for which figures are kept.
const RetentionDays = 731

// RowDays is the number of UTC days for which the records of reports are kept.
const RowDays = 90

// Domain is a domain whose reports are read.
type Domain struct {
	ID, Domain string
	// Token is part of the address that receives the domain's reports.
	Token string
	// Snapshot has the last answers of DNS, nil before the first.
	Snapshot *lookup.Snapshot
	// MeasuredAt is the time of the last measurement whose queries were answered, nil before it.
	MeasuredAt *time.Time
	// RequestedAt is the time of the last measurement that a caller asked for, nil without one.
	RequestedAt *time.Time
	// LastReportAt is when the last report that counts was received, nil without one.
	LastReportAt *time.Time
	// Acknowledgement is the latest one, nil without one.
	Acknowledgement *readiness.Acknowledgement
	CreatedAt       time.Time
}
