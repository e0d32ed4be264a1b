// Package membership provides the SQL that static lists and segments share: pages of
// members, the test for one member, and the log of transitions. It is vocabulary for
// those two rooms and owns no store; they own the tables of members.
package membership
