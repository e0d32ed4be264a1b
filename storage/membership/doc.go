// Package membership provides the SQL that static lists and segments share: pages of
// members, the test whether a contact is a member, and the log of members who entered or
// left. It owns no store and no table of members; packages lists and segments own these.
package membership
