// Package testsends sends messages to a few named addresses, so that their author sees them
// in a real mailbox. The tests of broadcasts and of templates share it, and an hourly limit
// of the organization.
//
// A test passes through package handover like every mail, so the account's rate and the stop
// of all mail apply. Suppression, consent and the audience do not. Its events are marked as
// tests and are not counted in reports.
package testsends
