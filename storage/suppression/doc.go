// Package suppression stores undeliverable addresses, and the rules by which an address
// becomes undeliverable. It reads bounces, complaints and rejects from the events of
// messages but does not write events.
package suppression
