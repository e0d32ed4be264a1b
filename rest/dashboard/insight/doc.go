// Package insight has the dashboard's pages about the results of sending: sending health,
// reports, the account's suppression list, undeliverable addresses, and the rules by which addresses count as undeliverable.
//
// Figures come from core/reports, the list of addresses and its rules from
// core/suppression. This package decides only how they are shown.
package insight
