// Package insight is the dashboard's pages about what happened to mail: sending health,
// and the addresses that are undeliverable with the rules that list them.
//
// Figures come from core/reports, the list and its rules from core/suppression; the room
// decides only what a page shows.
package insight
