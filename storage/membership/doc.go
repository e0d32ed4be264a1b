// Package membership is the SQL that static lists and segments share: pages of members, the
// test for one member, and the log of who entered and left. It is vocabulary for those two
// rooms and owns no store; the tables of members belong to them.
package membership
