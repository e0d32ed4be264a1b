// Package arrivals takes DMARC reports that come by mail. [Router] finds the domain of a report
// address, [Destination] stores the files of a message, and [Reader] reads them later.
//
// A report that anyone could have written must not decide about the mail of a domain. So a file
// counts only if DMARC passed for the message that brought it and its From domain is that of the
// reporter, or if a person accepted the reporter. Other files are held: nothing of them is
// counted, and they are deleted after 90 days. [Desk] has what people do.
//
// The package does not read reports itself: [Intake] stores what a file says, and recognizes
// reports that it has stored before. A [Collector] passes it what is in a bucket, which counts
// without a decision, because an operator chose it.
package arrivals
