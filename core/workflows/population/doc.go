// Package population lets the contacts of an organization run through workflows in memory.
//
// It reads the contacts for package simulation: for the dry run of one contact, and for
// estimates of how many contacts enter a workflow. It stores and sends nothing.
package population
