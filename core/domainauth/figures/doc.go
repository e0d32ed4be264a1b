// Package figures has the figures that the rules about a domain's DMARC reports are
// computed from: messages by day and source ([Row]), what is known about its sources
// ([Source]), UTC calendar days, and exact quotients ([Ratio]).
//
// The package computes nothing about a domain and stores nothing. Packages readiness and
// comparison compute with these types, storage provides them.
package figures
