// Package intake reads DMARC aggregate reports into the database: their records, the sources to
// which these belong, and the daily figures.
//
// A [Batch] takes files. Each file is read twice: once for what its reports are about, and once
// for their records, so that a report of any size takes little memory. Small reports are stored
// together in one transaction. A large one is stored in several: its records first, and its
// figures with the last one, so that a report counts whole or not at all. One that was
// interrupted is removed when it comes again.
//
// The package does not decide who may report, and does not ask DNS about domains: it uses the
// last answers that are stored.
package intake
