// Package suppression stores undeliverable addresses and the rules for them. It reads
// the adverse events of messages and never writes them.
package suppression
