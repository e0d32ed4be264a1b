// Package history generates the DMARC reports of a domain for up to two years, and knows the truth
// about them: who sent how many messages, what receivers did with them, and when the records of the
// domain changed. The same seed and size give the same history.
//
// The truth is counted while the reports are written, and its figures are loops over these numbers.
// The package uses no rule of the product, except the writer of reports and the names of what
// answers have. Tests compare the product with it.
package history
